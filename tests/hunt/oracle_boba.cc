// BOBA and its variants by their definitions in n-space.

#include <algorithm>
#include <numeric>

#include "tests/hunt/oracle.h"
#include "tests/hunt/subspace.h"

namespace boba::hunt {
namespace {

constexpr double kCutoff = 1e-6;  // of the clients' spread, for differences of corners
constexpr double kMinShare = -0.5;
constexpr int kMostFits = 20;
constexpr double kFitReach = 1024;  // times the n - f nearest: rows beyond do not shape a subspace

// The next subset in lexicographic order.
bool advance(Set& set, std::size_t n) {
  for (std::size_t i = set.size(); i-- > 0;) {
    if (set[i] == n - set.size() + i) continue;
    ++set[i];
    for (std::size_t j = i + 1; j < set.size(); ++j) set[j] = set[j - 1] + 1;
    return true;
  }
  return false;
}

Set of_near(const Set& near, const Set& places) {
  Set set;
  for (std::size_t place : places) set.push_back(near[place]);
  return set;
}

Set nearest(const Projected& projected, const Set& near, std::size_t keep) {
  std::vector<Big> residuals;
  for (std::size_t i : near) residuals.push_back(projected.residuals[i]);
  return of_near(near, smallest_of(residuals, keep));
}

Subspace search(const Products& products, const Set& near, std::size_t keep,
                const std::string& variant, const OracleOptions& options) {
  const std::size_t dimension = products.servers() - 1;
  if (variant == "boba-es") {
    Set places(keep);
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::vector<Subspace> all;
    do {
      all.push_back(fit(products, of_near(near, places), dimension));
    } while (advance(places, near.size()));
    const double tie = options.loss_tie + 1e-60;
    Big least = all[0].loss + all[0].total * tie;
    for (const Subspace& one : all) least = std::min(least, Big(one.loss + one.total * tie));
    const Subspace* best = nullptr;
    for (const Subspace& one : all) {
      if (one.loss - one.total * tie > least) continue;
      if (best == nullptr || one.total < best->total * (1 - tie)) best = &one;
    }
    return *best;
  }
  Set server(products.servers());
  std::iota(server.begin(), server.end(), products.clients);
  Subspace subspace = fit(products, server, dimension);
  if (variant == "boba-no-stage1") return subspace;
  const double least_square = std::max(kLeastSquare, options.residual_tie);
  Set set;
  Set next = nearest(project(products, subspace, least_square), near, keep);
  for (int i = 0; i < kMostFits && next != set; ++i) {
    set = next;
    subspace = fit(products, set, dimension);
    next = nearest(project(products, subspace, least_square), near, keep);
  }
  return subspace;
}

// The median distance of the clients from their coordinate-wise median.
Big client_spread(const BigMatrix& x, std::size_t n) {
  std::vector<Big> squares(n);
  for (std::size_t a = 0; a < x.rows; ++a) {
    std::vector<Big> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(x(a, i));
    const Big middle = middle_of(values);
    for (std::size_t i = 0; i < n; ++i) squares[i] += (x(a, i) - middle) * (x(a, i) - middle);
  }
  return root_of(middle_of(squares));
}

// The least share of a class in each client's mix.
std::vector<Big> least_shares(const BigMatrix& x, std::size_t n) {
  const std::size_t rank = x.rows;
  const std::size_t c = x.columns - n;
  std::vector<Big> least(n, Big(1) / static_cast<double>(c));
  if (c == 1 || rank == 0) return least;
  // Differences of the corners: columns d_k = corner_k - centre. p - 1/c has the sum 0, and the
  // least norm among the solutions of D p = x - centre, which the pseudo-inverse of D gives: its
  // range has the sum 0.
  BigMatrix d(rank, c);
  std::vector<Big> centre(rank);
  for (std::size_t a = 0; a < rank; ++a) {
    for (std::size_t z = 0; z < c; ++z) centre[a] += x(a, n + z);
    centre[a] /= static_cast<double>(c);
    for (std::size_t z = 0; z < c; ++z) d(a, z) = x(a, n + z) - centre[a];
  }
  BigMatrix squares(rank, rank);
  for (std::size_t a = 0; a < rank; ++a) {
    for (std::size_t b = 0; b < rank; ++b) {
      for (std::size_t z = 0; z < c; ++z) squares(a, b) += d(a, z) * d(b, z);
    }
  }
  const BigEigen values = eigen(squares);
  const Big cutoff = client_spread(x, n) * kCutoff;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<Big> p(c, Big(1) / static_cast<double>(c));
    for (std::size_t k = 0; k < rank; ++k) {
      if (!(values.values[k] > cutoff * cutoff)) continue;
      Big along = 0;
      for (std::size_t a = 0; a < rank; ++a) along += values.vectors(a, k) * (x(a, i) - centre[a]);
      along /= values.values[k];
      for (std::size_t z = 0; z < c; ++z) {
        for (std::size_t a = 0; a < rank; ++a) p[z] += d(a, z) * values.vectors(a, k) * along;
      }
    }
    least[i] = *std::min_element(p.begin(), p.end());
  }
  return least;
}

}  // namespace

std::vector<Big> boba_weights(const Products& products, std::size_t f, const std::string& variant,
                              const OracleOptions& options) {
  const std::size_t n = products.clients;
  std::vector<Big> squares = from_centre(products);
  squares.resize(n);
  const std::vector<bool> far = far_out(squares, f, kFitReach * options.fit_factor, {});
  Set near;
  for (std::size_t i = 0; i < n; ++i) {
    if (!far[i]) near.push_back(i);
  }
  const Subspace subspace = search(products, near, n - f, variant, options);
  const Projected projected = project(products, subspace);
  std::vector<bool> accepted(n, true);
  if (variant != "boba-no-stage2") {
    const std::vector<Big> least = least_shares(projected.x, n);
    std::size_t passed = 0;
    std::vector<Big> badness(n);
    for (std::size_t i = 0; i < n; ++i) {
      badness[i] = -least[i];
      accepted[i] = least[i] >= kMinShare;
      passed += accepted[i] ? 1 : 0;
    }
    const std::size_t keep = n - std::min(n - 1, f);
    if (passed < keep) {
      for (std::size_t i : smallest_of(badness, keep)) accepted[i] = true;
    }
  }
  const auto count = static_cast<double>(std::count(accepted.begin(), accepted.end(), true));
  std::vector<Big> weights = subspace.m;
  for (std::size_t a = 0; a < projected.x.rows; ++a) {
    Big mean = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (accepted[i]) mean += projected.x(a, i);
    }
    mean /= count;
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += subspace.w(i, a) * mean;
  }
  return weights;
}

}  // namespace boba::hunt
