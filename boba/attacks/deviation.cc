#include "boba/attacks/deviation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boba/attacks/parts.h"
#include "boba/core/gram.h"

namespace boba {
namespace {

double reached(const DeviationSpace& space, const DeviationSearch& search, double gamma) {
  const double shift = factor(search.sign) * gamma;
  return search.bound == Bound::kWidestPair ? space.furthest(shift) : space.total(shift);
}

double allowed(const DeviationSpace& space, const DeviationSearch& search) {
  return search.bound == Bound::kWidestPair ? space.widest_pair : space.widest_sum;
}

// |m - g_i|^2 = K_ii - 2 mean_j K_ij + mean_jk K_jk, whatever origin K was taken about.
void fill_distances(const Gram& gram, DeviationSpace& space) {
  const std::size_t h = gram.clients();
  std::vector<double> row_mean(h);
  double all_mean = 0;
  for (std::size_t i = 0; i < h; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < h; ++j) {
      const double distance = gram.sq_distance(i, j);
      space.widest_pair = std::max(space.widest_pair, distance);
      sum += distance;
      row_mean[i] += gram.centred(i, j) / static_cast<double>(h);
    }
    space.widest_sum = std::max(space.widest_sum, sum);
    all_mean += row_mean[i] / static_cast<double>(h);
  }
  space.from_mean.resize(h);
  for (std::size_t i = 0; i < h; ++i) {
    space.from_mean[i] = gram.centred(i, i) - 2 * row_mean[i] + all_mean;
  }
}

}  // namespace

double DeviationSpace::sq_distance(std::size_t i, double shift) const {
  const double value = from_mean[i] + 2 * shift * along[i] + shift * shift * deviation_sq;
  return value < 0 ? 0 : value;
}

double DeviationSpace::furthest(double shift) const {
  double most = 0;
  for (std::size_t i = 0; i < from_mean.size(); ++i) most = std::max(most, sq_distance(i, shift));
  return most;
}

double DeviationSpace::total(double shift) const {
  double sum = 0;
  for (std::size_t i = 0; i < from_mean.size(); ++i) sum += sq_distance(i, shift);
  return sum;
}

Result<DeviationSpace> deviation_space(std::string_view attack, const Kernels& kernels,
                                       const UpdateView& honest, MutableRow scratch) {
  const std::size_t h = honest.rows();
  const OutputPass deviation = kernels.moments(honest, 0, 1, scratch);
  if (Result<void> finite = needs_finite(attack, deviation.scan); !finite) return finite.error();

  RowList reference(honest.dtype(), honest.length());
  reference.add(scratch);
  const DotsPass dots = kernels.dots(honest, reference.view(), std::vector<double>{1.0});
  const std::vector<double> mean(h, 1.0 / static_cast<double>(h));

  DeviationSpace space;
  fill_distances(Gram(kernels.gram(honest, mean), h, honest.dtype()), space);
  space.deviation_sq = dots.reference_sq;
  double mean_dot = 0;
  for (double dot : dots.dot) mean_dot += dot / static_cast<double>(h);
  for (double dot : dots.dot) space.along.push_back(mean_dot - dot);
  if (!deviation.finite || !std::isfinite(mean_dot) || !std::isfinite(space.deviation_sq) ||
      !std::isfinite(space.widest_sum)) {
    return invalid_argument(
        fmt::format("{}: distances between the honest updates leave the range of {}", attack,
                    name(honest.dtype())));
  }
  return space;
}

double search_gamma(const DeviationSpace& space, const DeviationSearch& search) {
  // Without deviation every gamma gives the mean.
  if (space.deviation_sq == 0) return 0;
  const double bound = allowed(space, search);
  double gamma = search.gamma_init;
  double step = gamma / 2;
  double best = 0;
  // The step underflows where tau is below the spacing of numbers around gamma.
  while (std::abs(gamma - best) > search.tau && step > 0) {
    if (reached(space, search, gamma) <= bound) {
      best = gamma;
      gamma += step;
    } else {
      gamma -= step;
    }
    step /= 2;
  }
  return best;
}

Result<AttackReport> send_deviation(std::string_view attack, const DeviationSearch& search,
                                    const Kernels& kernels, const AttackRound& round,
                                    std::span<const MutableRow> out) {
  if (out.empty()) return AttackReport{};
  if (Result<void> some = needs_honest(attack, round.honest); !some) return some.error();
  const Result<DeviationSpace> space = deviation_space(attack, kernels, round.honest, out[0]);
  if (!space) return space.error();
  const double gamma = search_gamma(*space, search);
  const OutputPass pass = kernels.moments(round.honest, 1, factor(search.sign) * gamma, out[0]);
  send_first_to_all(kernels, out);
  return report({{"gamma", gamma},
                 {"reached", reached(*space, search, gamma)},
                 {"allowed", allowed(*space, search)}},
                pass);
}

}  // namespace boba
