// Sign flipping: an honest update, negated and scaled.
//
// Byzantine clients here are added to the federation and hold no data, so the j-th of them stands
// in the place of honest client j mod h and negates that client's update; with of=mean all negate
// the mean of the honest updates.
//
// L. Li, W. Xu, T. Chen, G. B. Giannakis, Q. Ling. RSA: Byzantine-Robust Stochastic Aggregation
// Methods for Distributed Learning from Heterogeneous Datasets. AAAI 2019.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct SignflipOptions {
  enum class Of { kClient, kMean };
  static constexpr std::array<std::string_view, 2> kOf = {"client", "mean"};

  double scale = 1;     // factor of the negated update
  Of of = Of::kClient;  // what is negated: one honest client's update, or the mean of all

  static constexpr Info info() {
    return {
        .name = "signflip",
        .summary = "an honest client's update, negated",
        .computes =
            "Byzantine client j sends -scale times the update of honest client j mod h, or with "
            "of=mean -scale times the mean of the honest updates.",
        .condition = "Needs at least one honest update.",
        .cost = "one read of an honest row for each forged row; mean: one output pass",
        .citation =
            "L. Li, W. Xu, T. Chen, G. B. Giannakis, Q. Ling. RSA: Byzantine-Robust "
            "Stochastic Aggregation Methods for Distributed Learning from Heterogeneous "
            "Datasets. AAAI 2019.",
        .python = "SignFlipping",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("scale", &SignflipOptions::scale, "factor of the negated update").between(0, 1e30),
        field("of", &SignflipOptions::of, "what is negated").one_of(kOf)};
  }
};

Result<NamedAttack> make_signflip(const SignflipOptions& options);

}  // namespace boba
