// What minmax and minsum share: the honest mean, moved along the standard deviation as far as a
// bound on its distances to the honest updates allows.
//
// V. Shejwalkar, A. Houmansadr. Manipulating the Byzantine: Optimizing Model Poisoning Attacks and
// Defenses for Federated Learning. NDSS 2021.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "boba/attacks/parts.h"
#include "boba/core/attack.h"

namespace boba {

// The honest updates g_i in n-space. m is their mean, s their standard deviation per coordinate.
struct DeviationSpace {
  std::vector<double> from_mean;  // |m - g_i|^2
  std::vector<double> along;      // <s, m - g_i>
  double deviation_sq = 0;        // |s|^2
  double widest_pair = 0;         // max_ij |g_i - g_j|^2
  double widest_sum = 0;          // max_i sum_j |g_i - g_j|^2

  // |m + shift * s - g_i|^2, clamped at 0 where rounding crosses it.
  double sq_distance(std::size_t i, double shift) const;
  double furthest(double shift) const;  // max over i
  double total(double shift) const;     // sum over i
};

// What bounds gamma.
enum class Bound {
  kWidestPair,  // minmax: max_i |x - g_i| <= max_ij |g_i - g_j|
  kWidestSum,   // minsum: sum_i |x - g_i|^2 <= max_i sum_j |g_i - g_j|^2
};

struct DeviationSearch {
  Bound bound = Bound::kWidestPair;
  double gamma_init = 10;
  double tau = 1e-5;
  Sign sign = Sign::kMinus;
};

// scratch is a row of the honest rows' type and length; s is left there. REQUIRES: honest rows.
Result<DeviationSpace> deviation_space(std::string_view attack, const Kernels& kernels,
                                       const UpdateView& honest, MutableRow scratch);

// gamma = gamma_init, step = gamma_init / 2, best = 0; while |gamma - best| > tau: where the bound
// holds, best = gamma and gamma += step, else gamma -= step; step /= 2. Gives best.
double search_gamma(const DeviationSpace& space, const DeviationSearch& search);

// Sends m + sign * gamma * s to every row of out.
Result<AttackReport> send_deviation(std::string_view attack, const DeviationSearch& search,
                                    const Kernels& kernels, const AttackRound& round,
                                    std::span<const MutableRow> out);

}  // namespace boba
