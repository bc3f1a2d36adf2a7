#include "simulator/partition/dirichlet.h"

#include <algorithm>
#include <cmath>

#include "boba/core/random.h"
#include "simulator/partition/cut.h"
#include "simulator/partition/gamma.h"

namespace boba::sim {
namespace {

class Dirichlet final : public PartitionScheme {
 public:
  explicit Dirichlet(const DirichletOptions& options) : options_(options) {}

  Result<Partition> deal(const PartitionRequest& request) const override {
    if (Result<void> good = check_request("dirichlet", request); !good) return good.error();
    std::vector<double> shapes(request.classes, 0.0);
    const double each = options_.alpha / static_cast<double>(request.labels.size());
    for (const std::uint8_t label : request.labels) ++shapes[label];
    for (double& shape : shapes) shape *= each;
    ClassWeights weights;
    for (std::size_t i = 0; i < request.clients; ++i) {
      const StreamKey key{.seed = request.seed,
                          .client = static_cast<std::uint32_t>(i),
                          .purpose = Purpose::kPartition};
      weights.push_back(log_dirichlet(key, shapes));
    }
    // Only ratios inside a class matter: its largest weight becomes 1, so that the class of which
    // every client drew next to nothing is cut as drawn, too.
    for (std::size_t z = 0; z < request.classes; ++z) {
      double top = weights[0][z];
      for (const auto& row : weights) top = std::max(top, row[z]);
      // A class without examples has nothing to cut.
      for (auto& row : weights) row[z] = shapes[z] > 0 ? std::exp(row[z] - top) : 0;
    }
    return cut_classes(request, weights);
  }

 private:
  DirichletOptions options_;
};

}  // namespace

Result<NamedPartition> make_dirichlet(const DirichletOptions& options) {
  return make_named<NamedPartition, Dirichlet>(options);
}

}  // namespace boba::sim
