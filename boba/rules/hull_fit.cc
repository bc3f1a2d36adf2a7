#include "boba/rules/hull_fit.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boba/algebra/simplex_fit.h"
#include "boba/rules/weiszfeld.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// How strongly a corner is held where it began, in clients: a corner that no client holds stays.
constexpr double kRidge = 0.1;
constexpr int kRefinements = 3;
// Squared singular values below this share of the largest count as noise of this size.
constexpr double kLeastNoise = 1e-12;
// The geometric median only orders clients here.
constexpr double kMedianTolerance = 1e-6;
constexpr int kMedianSteps = 200;

// The median, or the count-th least value if that is less.
double at_most_median(std::vector<double> values, std::size_t count) {
  const std::size_t place = std::min(values.size() / 2, count - 1);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// The corners for which sum |x_i - C p_i|^2 over the set + kRidge sum |C_z - start_z|^2 is least.
MatrixXd refined(const MatrixXd& x, const MatrixXd& shares, std::span<const std::size_t> set,
                 const MatrixXd& start) {
  // Eigen's solver reads the first number of a right side that has none.
  if (x.rows() == 0) return start;
  const Index c = start.cols();
  MatrixXd squares = MatrixXd::Identity(c, c) * kRidge;
  MatrixXd sums = start * kRidge;
  for (std::size_t i : set) {
    const auto p = shares.col(static_cast<Index>(i));
    squares.noalias() += p * p.transpose();
    sums.noalias() += x.col(static_cast<Index>(i)) * p.transpose();
  }
  return squares.llt().solve(sums.transpose()).transpose();
}

// Fits the shares of these clients. Returns their squared distances within the plane.
std::vector<double> fit_shares(const MatrixXd& corners, const MatrixXd& x,
                               std::span<const std::size_t> clients, MatrixXd& shares) {
  std::vector<double> squares;
  squares.reserve(clients.size());
  algebra::SimplexFit fit(corners);
  for (std::size_t i : clients) {
    const auto at = static_cast<Index>(i);
    squares.push_back(fit(x.col(at), shares.col(at)));
  }
  return squares;
}

// Those of these clients with the least values, rising.
std::vector<std::size_t> least(std::span<const double> values, std::span<const std::size_t> clients,
                               std::size_t count) {
  std::vector<double> own;
  for (std::size_t i : clients) own.push_back(values[i]);
  std::vector<std::size_t> chosen = smallest(own, count);
  for (std::size_t& k : chosen) k = clients[k];
  return chosen;
}

// The `near` clients with the least distances, and all within the limit if those are more.
std::vector<std::size_t> nearest(std::span<const double> sq_distance,
                                 std::span<const std::size_t> clients, std::size_t near,
                                 double sq_limit) {
  std::vector<std::size_t> within;
  for (std::size_t i : clients) {
    if (sq_distance[i] <= sq_limit) within.push_back(i);
  }
  return within.size() > near ? within : least(sq_distance, clients, near);
}

// How many corners the clients show, and their gap.
struct Corners {
  std::size_t count = 1;
  double gap = std::numeric_limits<double>::infinity();
};

Corners count_corners(const Gram& gram, std::span<const std::size_t> clients, std::size_t wanted,
                      std::size_t most) {
  if (wanted == 1) return {};
  // c corners span c - 1 directions. For noise to show, at least as many more must be left.
  const std::size_t largest = std::max({std::min(most - 1, (clients.size() - 1) / 2),
                                        wanted - (wanted > 0 ? 1 : 0), std::size_t{1}});
  const Subspace plane = fit_subspace(gram, clients, largest);
  std::vector<double> values = plane.spectrum;
  values.resize(plane.rank());
  values.push_back(left_out_value(clients, plane));
  values.resize(largest + 1, 0);
  const double noise = values[0] * std::max(gram.rounding(), kLeastNoise);
  const auto gap = [&](std::size_t directions) {
    return values[0] > 0 ? values[directions - 1] / std::max(values[directions], noise) : 0;
  };
  if (wanted > 1 && gap(wanted - 1) >= kLeastGap) return {wanted, gap(wanted - 1)};
  Corners best{1, 0};
  for (std::size_t k = 1; k <= std::min(most - 1, (clients.size() - 1) / 2); ++k) {
    if (gap(k) > best.gap) best = {k + 1, gap(k)};
  }
  if (best.gap < kLeastGap) best.count = 1;
  return best;
}

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

}  // namespace

HullStart corners_at(const Gram& gram, std::span<const std::size_t> rows) {
  HullStart start;
  start.plane.assign(rows.begin(), rows.end());
  start.corners = MatrixXd::Zero(static_cast<Index>(gram.size()), static_cast<Index>(rows.size()));
  for (std::size_t z = 0; z < rows.size(); ++z) {
    start.corners(static_cast<Index>(rows[z]), static_cast<Index>(z)) = 1;
  }
  return start;
}

HullStart corners_among_clients(const Gram& gram, std::span<const std::size_t> clients,
                                std::size_t near, std::size_t wanted, std::size_t most) {
  const GeometricMedian centre = geometric_median(gram, kMedianTolerance, kMedianSteps);
  std::vector<std::size_t> chosen = least(centre.distances, clients, near);
  const auto [corners, gap] = count_corners(gram, chosen, wanted, most);
  const MatrixXd x = project(gram, fit_subspace(gram, chosen, corners - 1)).x;
  MatrixXd rest(x.rows(), static_cast<Index>(chosen.size()));
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    rest.col(static_cast<Index>(k)) = x.col(static_cast<Index>(chosen[k]));
  }
  std::vector<std::size_t> found;
  Index farthest = 0;
  rest.colwise().squaredNorm().maxCoeff(&farthest);
  found.push_back(chosen[static_cast<std::size_t>(farthest)]);
  const VectorXd first = rest.col(farthest);
  rest.colwise() -= first;
  while (found.size() < corners) {
    const double sq = rest.colwise().squaredNorm().maxCoeff(&farthest);
    found.push_back(chosen[static_cast<std::size_t>(farthest)]);
    if (!(sq > 0)) continue;
    const VectorXd direction = rest.col(farthest) / std::sqrt(sq);
    rest -= direction * (direction.transpose() * rest).eval();
  }
  HullStart start = corners_at(gram, found);
  start.plane = std::move(chosen);
  start.gap = gap;
  return start;
}

HullStart corners_of_mixes(const Gram& gram, std::span<const std::size_t> known,
                           const MatrixXd& mixes, std::vector<std::size_t> plane) {
  const Index c = mixes.rows();
  // A corner that nobody holds stays near the mean.
  constexpr double kLeast = 1e-6;
  MatrixXd squares = mixes * mixes.transpose();
  squares.diagonal().array() += kLeast * static_cast<double>(known.size());
  const MatrixXd weights = squares.llt().solve(mixes);
  HullStart start;
  start.plane = std::move(plane);
  start.corners = MatrixXd::Zero(static_cast<Index>(gram.size()), c);
  for (std::size_t k = 0; k < known.size(); ++k) {
    start.corners.row(static_cast<Index>(known[k])) =
        weights.col(static_cast<Index>(k)).transpose();
  }
  return start;
}

HullFit fit_hull(const Gram& gram, const HullStart& start, std::span<const std::size_t> clients,
                 std::size_t near, double reach, int max_passes) {
  const std::size_t n = gram.clients();
  const Index c = start.corners.cols();
  const auto dimension = static_cast<std::size_t>(c - 1);
  const std::vector<std::size_t> everyone = first_numbers(n);
  HullFit fit;
  fit.shares = MatrixXd::Constant(c, static_cast<Index>(n), 1.0 / static_cast<double>(c));
  fit.plane = fit_subspace(gram, start.plane, dimension);
  Projection projection;
  while (static_cast<int>(fit.passes) < max_passes && !fit.settled) {
    if (fit.passes > 0) {
      fit.plane =
          fit_subspace(gram, fit.set, dimension, &projection.x, std::move(fit.plane.products));
    }
    projection = project(gram, fit.plane);
    const MatrixXd& x = projection.x;
    const MatrixXd first = x * start.corners;
    fit.corners = first;
    for (int k = 0; fit.passes > 0 && k < kRefinements; ++k) {
      fit_shares(fit.corners, x, fit.set, fit.shares);
      fit.corners = refined(x, fit.shares, fit.set, first);
    }
    fit.sq_distance = fit_shares(fit.corners, x, everyone, fit.shares);
    ++fit.passes;

    // Within the plane too, what rounding may have left is no distance.
    const double rounding = 4 * std::max(gram.rounding(), 0x1p-50);
    const double corner = x.rows() > 0 ? fit.corners.colwise().squaredNorm().maxCoeff() : 0;
    std::vector<double> lost = projection.lost;
    lost.resize(n);
    std::vector<double> distances;
    for (std::size_t i = 0; i < n; ++i) {
      const double within = rounding * (x.col(static_cast<Index>(i)).squaredNorm() + corner);
      double& square = fit.sq_distance[i];
      if (square <= within) square = 0;
      square += projection.sq_residual[i];
      lost[i] += within;
    }
    for (std::size_t i : clients) distances.push_back(std::sqrt(fit.sq_distance[i]));
    fit.lost = at_most_median(std::move(lost), n);
    fit.typical = at_most_median(std::move(distances), near);
    const double limit = fit.passes > 1 ? reach * fit.typical : 0;
    std::vector<std::size_t> set = nearest(fit.sq_distance, clients, near, limit * limit);
    fit.settled = set == fit.set;
    fit.set = std::move(set);
  }
  return fit;
}

}  // namespace boba
