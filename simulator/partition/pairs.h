// pairs: every client holds two classes, or one; every ordered pair of classes has a client.
//
// The pathological partition of the paper on BOBA, as its authors ran it.
#pragma once

#include <tuple>

#include "simulator/partition/cut.h"
#include "simulator/partition/registry.h"

namespace boba::sim {

struct PairsOptions {
  ClassOrder order = ClassOrder::kFile;  // of the examples of a class

  static constexpr Info info() {
    return {
        .name = "pairs",
        .summary = "two classes for each client, every ordered pair once",
        .computes =
            "For c classes, client i stands for the ordered pair of classes number i mod c^2, two "
            "equal classes included. The examples of a class, in order, are cut in proportion to "
            "how often the class stands in each client's pair, so twice for a client with that "
            "class only. The seed plays no part but in "
            "order=shuffled.",
        .condition = "Clients a multiple of c^2; as many examples as clients.",
        .cost = "one pass over the labels",
        .citation =
            "W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label "
            "Skewness. AISTATS 2024.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("order", &PairsOptions::order, "in which the examples of a class are dealt")
            .one_of(kClassOrderNames)};
  }
};

Result<NamedPartition> make_pairs(const PairsOptions& options = {});

}  // namespace boba::sim
