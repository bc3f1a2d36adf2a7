// SelfRej: keeps the n - f updates whose own step leaves the server's data the smallest loss.
//
// The loss-based rejection of M. Fang, X. Cao, J. Jia, N. Gong. Local Model Poisoning Attacks to
// Byzantine-Robust Federated Learning. USENIX Security 2020, scoring each update by itself.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct SelfrejOptions {
  int f = 0;  // Byzantine clients tolerated: updates rejected

  static constexpr Info info() {
    return {
        .name = "selfrej",
        .summary = "mean of the updates whose own step leaves the smallest loss",
        .computes =
            "The server's data gives the loss at w - eta g_i for each client; the n - f "
            "updates with the smallest loss are averaged.",
        .condition =
            "Needs n - f >= 1 and an oracle for the loss of the server's data, the model "
            "and the step; no guarantee is known.",
        .cost = "one pass for norms, n losses, one output pass",
        .citation =
            "M. Fang, X. Cao, J. Jia, N. Gong. Local Model Poisoning Attacks to "
            "Byzantine-Robust Federated Learning. USENIX Security 2020.",
        .python = "SelfRej",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &SelfrejOptions::f, "Byzantine clients tolerated").between(0, 1 << 20)};
  }
};

Result<Aggregator> make_selfrej(const SelfrejOptions& options);

}  // namespace boba
