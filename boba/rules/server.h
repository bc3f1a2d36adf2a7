// Server: the mean of the server's gradients. The clients are not used, so none can do harm.
//
// The baseline "Server" of W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with
// Label Skewness. AISTATS 2024.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct ServerOptions {
  static constexpr Info info() {
    return {
        .name = "server",
        .summary = "mean of the server's gradients; clients are not used",
        .computes = "The mean of the server's gradients, one per class, each weighing the same.",
        .condition =
            "Needs at least one server gradient; any number of Byzantine clients is "
            "harmless.",
        .cost = "one output pass over the server's gradients",
        .citation =
            "W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label "
            "Skewness. AISTATS 2024.",
        .python = "ServerOnly",
    };
  }
  static constexpr auto fields() { return std::tuple{}; }
};

Result<Aggregator> make_server(const ServerOptions& options);

}  // namespace boba
