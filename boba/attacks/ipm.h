// Inner product manipulation: minus gamma times the mean of the honest updates.
//
// C. Xie, O. Koyejo, I. Gupta. Fall of Empires: Breaking Byzantine-tolerant SGD by Inner Product
// Manipulation. UAI 2019.
#pragma once

#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct IpmOptions {
  double gamma = 10;  // how far beyond zero the forged update stands, in honest means

  static constexpr Info info() {
    return {
        .name = "ipm",
        .summary = "minus gamma times the honest mean",
        .computes =
            "Every Byzantine client sends -gamma times the mean of the honest updates, so "
            "that the inner product of the aggregate and the true gradient turns negative.",
        .condition = "Needs at least one honest update.",
        .cost = "one output pass over the honest updates",
        .citation =
            "C. Xie, O. Koyejo, I. Gupta. Fall of Empires: Breaking Byzantine-tolerant SGD "
            "by Inner Product Manipulation. UAI 2019.",
        .python = "InnerProductManipulation",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("gamma", &IpmOptions::gamma, "factor of the negated honest mean").between(0, 1e30)};
  }
};

Result<NamedAttack> make_ipm(const IpmOptions& options);

}  // namespace boba
