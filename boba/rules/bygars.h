// ByGARS: reputations learned by steps towards the server's gradient weigh the unit updates.
//
// J. Regatti, H. Chen, A. Gupta. ByGARS: Byzantine SGD with Arbitrary Number of Attackers. 2020.
// A client that points away from the server's gradient gets a negative reputation.
//
// Reputations weigh unit vectors, so the step of the model does not shrink with the gradients: only
// eta makes it smaller. The code of the paper's authors reads eta once, before the first round;
// with eta set the rule does so too, whatever the schedule of the clients.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

struct BygarsOptions {
  int k = 3;            // steps of the reputations
  double alpha = 0.05;  // size of such a step
  double eta = 0;       // the rule's own learning rate; 0: the round's

  static constexpr Info info() {
    return {
        .name = "bygars",
        .summary = "unit updates weighed by reputations learned from the server's gradient",
        .computes =
            "With u_i = g_i/|g_i| and q = 0, k times: v is the server's gradient at "
            "w - eta * sum q_i u_i, and q_i grows by alpha eta <u_i, v/|v|>. The result is "
            "sum q_i u_i, times eta over the round's where the rule has an eta of its own.",
        .condition =
            "Needs an oracle for the gradient of the server's data, the model and the "
            "step; guaranteed for strongly convex losses and server data like the "
            "clients'.",
        .cost = "one pass for norms, k gradients with two passes each, one output pass",
        .citation =
            "J. Regatti, H. Chen, A. Gupta. ByGARS: Byzantine SGD with Arbitrary Number "
            "of Attackers. arXiv 2006.13421, 2020.",
        .python = "ByGARS",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("k", &BygarsOptions::k, "steps of the reputations").between(1, 10000),
        field("alpha", &BygarsOptions::alpha, "size of a step of the reputations").between(0, 1e30),
        field("eta", &BygarsOptions::eta,
              "learning rate of the rule in every round; 0: the round's")
            .between(0, 1e30)};
  }
};

Result<Aggregator> make_bygars(const BygarsOptions& options);

}  // namespace boba
