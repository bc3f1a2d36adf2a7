// Sign flipping: an honest update, negated and scaled.
//
// Byzantine clients here are added to the federation and hold no data, so the j-th of them stands
// in the place of honest client j mod h and negates that client's update.
//
// L. Li, W. Xu, T. Chen, G. B. Giannakis, Q. Ling. RSA: Byzantine-Robust Stochastic Aggregation
// Methods for Distributed Learning from Heterogeneous Datasets. AAAI 2019.
#pragma once

#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct SignflipOptions {
  double scale = 1;  // factor of the negated update

  static constexpr Info info() {
    return {
        .name = "signflip",
        .summary = "an honest client's update, negated",
        .computes = "Byzantine client j sends -scale times the update of honest client j mod h.",
        .condition = "Needs at least one honest update.",
        .cost = "one read of an honest row for each forged row",
        .citation =
            "L. Li, W. Xu, T. Chen, G. B. Giannakis, Q. Ling. RSA: Byzantine-Robust "
            "Stochastic Aggregation Methods for Distributed Learning from Heterogeneous "
            "Datasets. AAAI 2019.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("scale", &SignflipOptions::scale, "factor of the negated update").between(0, 1e30)};
  }
};

Result<NamedAttack> make_signflip(const SignflipOptions& options);

}  // namespace boba
