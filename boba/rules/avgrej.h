// AvgRej: keeps the n - f updates without which the average of the others loses the most.
//
// The loss-based rejection (LFR) of M. Fang, X. Cao, J. Jia, N. Gong. Local Model Poisoning Attacks
// to Byzantine-Robust Federated Learning. USENIX Security 2020.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct AvgrejOptions {
  int f = 0;  // Byzantine clients tolerated: updates rejected

  static constexpr Info info() {
    return {
        .name = "avgrej",
        .summary = "mean of the updates whose removal hurts the average most",
        .computes =
            "The server's data gives the loss at w - eta * (mean of the others) for each "
            "client; the n - f updates with the largest loss without them are averaged.",
        .condition =
            "Needs n >= 2, n - f >= 1 and an oracle for the loss of the server's data, "
            "the model and the step; no guarantee is known.",
        .cost =
            "one pass for norms, one for the sum of all rows, n losses at the sum less one "
            "row, one output pass",
        .citation =
            "M. Fang, X. Cao, J. Jia, N. Gong. Local Model Poisoning Attacks to "
            "Byzantine-Robust Federated Learning. USENIX Security 2020.",
        .python = "AvgRej",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &AvgrejOptions::f, "Byzantine clients tolerated").between(0, 1 << 20)};
  }
};

Result<Aggregator> make_avgrej(const AvgrejOptions& options);

}  // namespace boba
