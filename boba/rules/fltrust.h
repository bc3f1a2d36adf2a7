// FLTrust: updates scaled to the server gradient's norm and weighed by their cosine with it.
//
// X. Cao, M. Fang, J. Liu, N. Gong. FLTrust: Byzantine-robust Federated Learning via Trust
// Bootstrapping. NDSS 2021. Tolerates any number of clients when the server's data is like theirs.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct FltrustOptions {
  static constexpr Info info() {
    return {
        .name = "fltrust",
        .summary = "updates weighed by their cosine with the server's gradient",
        .computes =
            "With s the server's gradient on all its data, client i's trust is "
            "t_i = max(0, cos(g_i, s)); the result is the mean of the updates, scaled to "
            "the norm of s, weighted by trust. If all trusts are 0 it is the zero update.",
        .condition =
            "Needs the server's gradient; guaranteed when the server's data has the "
            "clients' distribution.",
        .cost = "one pass for norms and products with s, one output pass",
        .citation =
            "X. Cao, M. Fang, J. Liu, N. Gong. FLTrust: Byzantine-robust Federated "
            "Learning via Trust Bootstrapping. NDSS 2021.",
        .python = "FLTrust",
    };
  }
  static constexpr auto fields() { return std::tuple{}; }
};

Result<Aggregator> make_fltrust(const FltrustOptions& options);

}  // namespace boba
