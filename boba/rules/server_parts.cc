#include "boba/rules/server_parts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "boba/rules/label_mix.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A vector or matrix over the joined rows, as one over the rows before.
MatrixXd unjoined(const MatrixXd& joined, std::size_t clients, std::size_t parts) {
  const auto n = static_cast<Index>(clients);
  const auto m = static_cast<Index>(parts);
  MatrixXd all(n + (joined.rows() - n) * m, joined.cols());
  all.topRows(n) = joined.topRows(n);
  for (Index z = n; z < joined.rows(); ++z) {
    all.middleRows(n + (z - n) * m, m) = joined.row(z).replicate(m, 1) / static_cast<double>(m);
  }
  return all;
}

}  // namespace

double low_share_of_parts(const Gram& gram, const Subspace& subspace, std::size_t parts) {
  const auto m = static_cast<Index>(parts);
  const auto servers = static_cast<Index>(gram.servers());
  const Index c = servers / m;
  const auto size = static_cast<Index>(gram.size());
  const Eigen::Map<const MatrixXd> k(gram.centred().data(), size, size);
  const MatrixXd w = unjoined(subspace.w, gram.clients(), parts);
  const VectorXd point = k * unjoined(subspace.m, gram.clients(), parts);
  // Coordinates of the parts, and of each class's mean of them.
  const MatrixXd x = w.transpose() * (k.rightCols(servers).colwise() - point);
  MatrixXd mean = MatrixXd::Zero(x.rows(), c);
  for (Index z = 0; z < c; ++z) mean.col(z) = x.middleCols(z * m, m).rowwise().mean();

  std::vector<double> least;
  for (Index j = 0; j < m; ++j) {
    Projection one;
    one.x.resize(x.rows(), 2 * c);
    for (Index z = 0; z < c; ++z) {
      const auto part = x.col(z * m + j);
      one.x.col(z) = part;
      one.x.col(c + z) = (static_cast<double>(m) * mean.col(z) - part) / static_cast<double>(m - 1);
    }
    const LabelMixes mixes = label_mixes(one, static_cast<std::size_t>(c));
    if (mixes.used == 0) return 0;
    for (Index z = 0; z < c; ++z) least.push_back(mixes.shares.col(z).minCoeff());
  }
  const auto quartile = least.begin() + static_cast<std::ptrdiff_t>(least.size() / 4);
  std::nth_element(least.begin(), quartile, least.end());
  const auto count = static_cast<double>(m);
  return *quartile * 2 * std::sqrt(count - 1) / count;
}

}  // namespace boba
