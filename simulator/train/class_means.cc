#include "simulator/train/class_means.h"

#include <vector>

namespace boba::sim {

UpdateView class_means(const Kernels& kernels, const UpdateView& server, std::size_t parts,
                       UpdateMatrix& means) {
  if (parts == 1 || server.empty()) return server;
  if (means.rows() == 0) {
    means = kernels.make_rows(server.dtype(), server.rows() / parts, server.length());
  }
  const std::vector<double> weights(parts, 1 / static_cast<double>(parts));
  for (std::size_t z = 0; z < means.rows(); ++z) {
    RowList own(server.dtype(), server.length());
    for (std::size_t j = 0; j < parts; ++j) own.add(server, z * parts + j);
    kernels.combine(own.view(), weights, 0, means.row(z));
  }
  return means.view();
}

}  // namespace boba::sim
