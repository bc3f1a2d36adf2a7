#include "boba/rules/stage1.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "boba/core/screen.h"

namespace boba {
namespace {

std::size_t dimension(const Gram& gram) { return gram.servers() - 1; }

// Clients farther out than this many times the n - f nearest do not shape a subspace. So the
// eigenvectors of the others' products are right to about 1e-14 times its square.
constexpr double kFarthestInFit = 1024;
// Subsets tie if their losses differ by less than so many roundings of their sums of squares.
constexpr double kTie = 2;
constexpr double kLeastRounding = 0x1p-50;

// Projects all rows on the subspace, finds the nearest clients, and records their loss.
void project_all(const Gram& gram, std::span<const std::size_t> near, std::size_t keep,
                 Stage1& state) {
  state.projection = project(gram, state.subspace);
  std::vector<double> residuals;
  for (std::size_t i : near) residuals.push_back(state.projection.sq_residual[i]);
  state.nearest.clear();
  double loss = 0;
  for (std::size_t k : smallest(residuals, keep)) {
    state.nearest.push_back(near[k]);
    loss += residuals[k];
  }
  state.trimmed_loss.push_back(loss);
}

// The next subset in lexicographic order; false after the last.
bool next_subset(std::vector<std::size_t>& set, std::size_t n) {
  for (std::size_t i = set.size(); i-- > 0;) {
    if (set[i] == n - set.size() + i) continue;
    ++set[i];
    for (std::size_t j = i + 1; j < set.size(); ++j) set[j] = set[j - 1] + 1;
    return true;
  }
  return false;
}

// Sums of squares of a subset: of its residuals, and in all.
struct SubsetFit {
  double loss = 0;
  double total = 0;
};

// The tightest of the subsets whose losses cannot be told from the least loss. Neither rounding nor
// the size of a liar's row, which sets the rounding of its subsets, must choose between them.
std::size_t best_of(const std::vector<SubsetFit>& subsets, double rounding) {
  double least = std::numeric_limits<double>::infinity();
  for (const SubsetFit& one : subsets) least = std::min(least, one.loss + rounding * one.total);
  const auto fits = [&](const SubsetFit& one) { return one.loss - rounding * one.total <= least; };
  double tightest = std::numeric_limits<double>::infinity();
  for (const SubsetFit& one : subsets) {
    if (fits(one)) tightest = std::min(tightest, one.total);
  }
  const auto best = std::ranges::find_if(subsets, [&](const SubsetFit& one) {
    return fits(one) && one.total <= tightest * (1 + rounding);
  });
  return static_cast<std::size_t>(best - subsets.begin());
}

}  // namespace

std::vector<std::size_t> near_clients(const Gram& gram, std::size_t f) {
  const std::size_t n = gram.clients();
  std::vector<double> squares(n);
  gram.sq_distances(origin_fit(gram).medoid, squares);
  std::vector<bool> far(n, false);
  for (const Refusal& client : screen(squares, f, kFarthestInFit, "distance").refused) {
    far[client.row] = true;
  }
  std::vector<std::size_t> near;
  for (std::size_t i = 0; i < n; ++i) {
    if (!far[i]) near.push_back(i);
  }
  return near;
}

Stage1 server_stage1(const Gram& gram, std::span<const std::size_t> near, std::size_t keep) {
  std::vector<std::size_t> server(gram.servers());
  std::iota(server.begin(), server.end(), gram.clients());
  Stage1 state;
  state.subspace = fit_subspace(gram, server, dimension(gram));
  state.fits = 1;
  state.noise = left_out_value(server, state.subspace);
  project_all(gram, near, keep, state);
  return state;
}

Stage1 alternating_stage1(const Gram& gram, std::span<const std::size_t> near, std::size_t keep,
                          int max_iter) {
  Stage1 state = server_stage1(gram, near, keep);
  state.converged = false;
  for (int i = 0; i < max_iter && !state.converged; ++i) {
    state.set = state.nearest;
    state.subspace = fit_subspace(gram, state.set, dimension(gram), &state.projection.x,
                                  std::move(state.subspace.products));
    ++state.fits;
    project_all(gram, near, keep, state);
    state.converged = state.nearest == state.set;
  }
  state.noise = left_out_value(state.set, state.subspace);
  return state;
}

Stage1 exhaustive_stage1(const Gram& gram, std::span<const std::size_t> near, std::size_t keep) {
  std::vector<std::size_t> places(keep);
  std::vector<std::size_t> set(keep);
  const auto first = [&] { std::iota(places.begin(), places.end(), std::size_t{0}); };
  const auto fit = [&] {
    std::ranges::transform(places, set.begin(), [&](std::size_t place) { return near[place]; });
    return fit_subspace(gram, set, dimension(gram));
  };
  std::vector<SubsetFit> all;
  first();
  do {
    const Subspace subspace = fit();
    all.push_back({subspace.loss, subspace.total});
  } while (next_subset(places, near.size()));
  first();
  for (std::size_t i = best_of(all, kTie * std::max(gram.rounding(), kLeastRounding)); i > 0; --i) {
    next_subset(places, near.size());
  }
  Stage1 best;
  best.subspace = fit();
  best.set = set;
  best.fits = all.size();
  best.noise = left_out_value(best.set, best.subspace);
  project_all(gram, near, keep, best);
  return best;
}

std::size_t count_subsets(std::size_t n, std::size_t k, std::size_t limit) {
  k = std::min(k, n - k);
  double count = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    count = count * static_cast<double>(n - k + i) / static_cast<double>(i);
    if (count >= static_cast<double>(limit)) return limit;
  }
  return static_cast<std::size_t>(count + 0.5);
}

}  // namespace boba
