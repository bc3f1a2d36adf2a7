// RAGE: clients lose weight by the square of their projection on the direction of most variance.
//
// S. Data, S. Diggavi. Byzantine-Resilient High-Dimensional SGD with Local Iterations on
// Heterogeneous Data. ICML 2021, whose decoder follows the filter of J. Steinhardt, M. Charikar,
// G. Valiant. Resilience: A Criterion for Learning in the Presence of Arbitrary Outliers. ITCS
// 2018. Each step takes all weight from one client at least.
#pragma once

#include <string_view>
#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

enum class RageProjection { kCentred, kRaw };
inline constexpr std::string_view kRageProjectionNames[] = {"centred", "raw"};

struct RageOptions {
  int f = 0;      // Byzantine clients tolerated; most must be honest
  int steps = 0;  // how often weights are taken away; 0 is f
  RageProjection projection = RageProjection::kCentred;  // of g_i - mean, or of g_i itself

  static constexpr Info info() {
    return {
        .name = "rage",
        .summary = "mean with less weight for clients far out along the main direction",
        .computes =
            "Weights begin equal. In each step, with mu the weighted mean and v the "
            "direction of most weighted variance about it, tau_i = <g_i - mu, v>^2 and "
            "w_i is multiplied by 1 - tau_i / max tau. The result is the weighted mean.",
        .condition =
            "Needs n >= 1; its guarantee needs an honest majority with bounded variance "
            "in every direction.",
        .cost = "one Gram pass, one output pass; a top eigenvector in n-space per step",
        .citation =
            "S. Data, S. Diggavi. Byzantine-Resilient High-Dimensional SGD with Local "
            "Iterations on Heterogeneous Data. ICML 2021.",
        .python = "RAGE",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &RageOptions::f, "Byzantine clients tolerated").between(0, 1 << 20),
        field("steps", &RageOptions::steps, "how often weights are taken away; 0: f")
            .between(0, 1 << 20),
        field("projection", &RageOptions::projection, "what is projected: g_i - mean, or g_i")
            .one_of(kRageProjectionNames)};
  }
};

Result<Aggregator> make_rage(const RageOptions& options);

}  // namespace boba
