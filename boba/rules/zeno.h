// Zeno: keeps the n - f updates with the smallest loss after their step plus a price on its size.
//
// C. Xie, S. Koyejo, I. Gupta. Zeno: Distributed Stochastic Gradient Descent with Suspicion-based
// Fault-tolerance. ICML 2019. Works for any f < n when the server's data looks like the clients'.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct ZenoOptions {
  int f = 0;          // Byzantine clients tolerated: updates rejected
  double rho = 5e-4;  // price of a squared step |eta g_i|^2, in units of the loss

  static constexpr Info info() {
    return {
        .name = "zeno",
        .summary = "mean of the updates with the smallest loss plus a price on their size",
        .computes =
            "A client's score is the loss of the server's data at w - eta g_i plus "
            "rho |eta g_i|^2; the n - f updates with the smallest score are averaged.",
        .condition =
            "Needs n - f >= 1 and an oracle for the loss of the server's data, the model "
            "and the step; guaranteed when the server's data looks like the clients'.",
        .cost = "one pass for norms, n losses, one output pass",
        .citation =
            "C. Xie, S. Koyejo, I. Gupta. Zeno: Distributed Stochastic Gradient Descent "
            "with Suspicion-based Fault-tolerance. ICML 2019.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &ZenoOptions::f, "Byzantine clients tolerated").between(0, 1 << 20),
        field("rho", &ZenoOptions::rho, "price of a squared step").between(0, 1e30)};
  }
};

Result<Aggregator> make_zeno(const ZenoOptions& options);

}  // namespace boba
