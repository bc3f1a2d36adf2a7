#include "boba/rules/stage1.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace boba {
namespace {

std::size_t dimension(const Gram& gram) { return gram.servers() - 1; }

// Projects on the subspace and finds the nearest clients; their loss joins the record.
void look(const Gram& gram, std::size_t keep, Stage1& state) {
  state.projection = project(gram, state.subspace);
  const std::span<const double> residuals(state.projection.sq_residual.data(), gram.clients());
  state.nearest = smallest(residuals, keep);
  double loss = 0;
  for (std::size_t i : state.nearest) loss += residuals[i];
  state.trimmed_loss.push_back(loss);
}

// The next subset in lexicographic order; false after the last.
bool advance(std::vector<std::size_t>& set, std::size_t n) {
  for (std::size_t i = set.size(); i-- > 0;) {
    if (set[i] == n - set.size() + i) continue;
    ++set[i];
    for (std::size_t j = i + 1; j < set.size(); ++j) set[j] = set[j - 1] + 1;
    return true;
  }
  return false;
}

}  // namespace

Stage1 server_stage1(const Gram& gram, std::size_t keep) {
  std::vector<std::size_t> server(gram.servers());
  std::iota(server.begin(), server.end(), gram.clients());
  Stage1 state;
  state.subspace = fit_subspace(gram, server, dimension(gram));
  state.fits = 1;
  state.noise = next_value(server, state.subspace);
  look(gram, keep, state);
  return state;
}

Stage1 alternating_stage1(const Gram& gram, std::size_t keep, int max_iter) {
  Stage1 state = server_stage1(gram, keep);
  state.converged = false;
  for (int i = 0; i < max_iter && !state.converged; ++i) {
    state.set = state.nearest;
    state.subspace.products.resize(0, 0);  // room for those of the next fit
    state.subspace = fit_subspace(gram, state.set, dimension(gram), &state.projection.x);
    ++state.fits;
    look(gram, keep, state);
    state.converged = state.nearest == state.set;
  }
  state.noise = next_value(state.set, state.subspace);
  return state;
}

Stage1 exhaustive_stage1(const Gram& gram, std::size_t keep) {
  std::vector<std::size_t> set(keep);
  std::iota(set.begin(), set.end(), std::size_t{0});
  Stage1 best;
  std::size_t fits = 0;
  do {
    Subspace fit = fit_subspace(gram, set, dimension(gram));
    if (fits++ == 0 || fit.loss < best.subspace.loss) {
      best.subspace = std::move(fit);
      best.set = set;
    }
  } while (advance(set, gram.clients()));
  best.fits = fits;
  best.noise = next_value(best.set, best.subspace);
  look(gram, keep, best);
  return best;
}

std::size_t subsets(std::size_t n, std::size_t k, std::size_t limit) {
  k = std::min(k, n - k);
  double count = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    count = count * static_cast<double>(n - k + i) / static_cast<double>(i);
    if (count >= static_cast<double>(limit)) return limit;
  }
  return static_cast<std::size_t>(count + 0.5);
}

}  // namespace boba
