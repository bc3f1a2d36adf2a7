// Sleeper: attackers who look honest at first, to win the trust of a rule with a memory.
#pragma once

#include <tuple>

#include "boba/attacks/registry.h"

namespace boba {

struct SleeperOptions {
  int rounds = 100;  // in which the clients look honest

  static constexpr Info info() {
    return {
        .name = "sleeper",
        .summary = "honest-looking updates in the first rounds, then the attack",
        .computes =
            "Up to the given round, Byzantine client j sends the mean of two honest updates, "
            "always of the same two clients if all of them come: what a client with the data of "
            "both would send. After it, it sends what the attack before this stage sends.",
        .condition = "Needs at least one honest update, and what the attack needs.",
        .cost = "one read of two rows for each client, or what the attack costs",
        .citation = "Of this project.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{field("rounds", &SleeperOptions::rounds,
                            "rounds, from the first, in which the clients look honest")
                          .between(0, 1 << 20)};
  }
};

Result<NamedAttackStage> make_sleeper(const SleeperOptions& options);

}  // namespace boba
