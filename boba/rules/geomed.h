// Geometric median: the point with the smallest sum of distances to the updates.
//
// E. Weiszfeld, 1937; Y. Vardi, C.-H. Zhang. The multivariate L1-median and associated data depth.
// PNAS 2000; K. Pillutla, S. Kakade, Z. Harchaoui. Robust Aggregation for Federated Learning. IEEE
// TSP 2022. Tolerates fewer than n/2 Byzantine clients.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct GeomedOptions {
  double tolerance = 1e-8;  // distance to the exact median, relative to the median distance
  int max_iter = 1000;      // steps at most
  int steps = 0;            // T smoothed steps from the zero update instead; 0: the exact median
  double nu = 0.1;          // distances below count as nu in them, in units of the updates

  static constexpr Info info() {
    return {
        .name = "geomed",
        .summary = "geometric median: the smallest sum of distances",
        .computes =
            "The point with the smallest sum of distances to the updates, by Weiszfeld's "
            "steps and Newton's where those are slow, from the best of the updates. If "
            "several updates are equally good medians, their mean. With steps=T it is what T "
            "of Weiszfeld's steps reach from the zero update, distances below nu counting as nu.",
        .condition = "Needs n >= 1; bounded for n > 2f.",
        .cost =
            "one Gram pass, one output pass; n^2 in n-space per step, n^3 where Newton's "
            "steps are needed",
        .citation =
            "Y. Vardi, C.-H. Zhang. The multivariate L1-median and associated data depth. "
            "PNAS 2000.",
        .python = "GeometricMedian",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("tolerance", &GeomedOptions::tolerance, "distance to the exact median, relative")
            .between(1e-14, 0.1),
        field("max_iter", &GeomedOptions::max_iter, "steps at most").between(1, 1 << 20),
        field("steps", &GeomedOptions::steps, "smoothed steps from the zero update; 0: exact")
            .between(0, 1 << 20),
        field("nu", &GeomedOptions::nu, "with steps: distances below count as nu")
            .between(1e-300, 1e30)};
  }
};

Result<Aggregator> make_geomed(const GeomedOptions& options);

}  // namespace boba
