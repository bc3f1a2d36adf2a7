// Server mix, a stage after a rule: (1 - lambda) * result + lambda * mean of the server gradients.
//
// The server data that BOBA uses, given to the other rules: W. Bao, J. Wu, J. He. BOBA:
// Byzantine-Robust Federated Learning with Label Skewness. AISTATS 2024.
#pragma once

#include <tuple>

#include "boba/core/options.h"
#include "boba/rules/registry.h"

namespace boba {

struct ServerMixOptions {
  double lambda = 0.5;  // the server's share of the result

  static constexpr Info info() {
    return {
        .name = "server-mix",
        .summary = "after a rule: mixes its result with the server's gradients",
        .computes =
            "(1 - lambda) times the rule's result plus lambda times the mean of the "
            "server's gradients.",
        .condition =
            "Needs at least one server gradient. A fault in the rule's result remains, "
            "shrunk by 1 - lambda.",
        .cost = "the server rows join the output pass",
        .citation =
            "W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label "
            "Skewness. AISTATS 2024.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{field("lambda", &ServerMixOptions::lambda, "the server's share of the result")
                          .between(0, 1)};
  }
};

Result<NamedBlend> make_server_mix(const ServerMixOptions& options);

}  // namespace boba
