// step: every client holds every class, and more of its main ones.
//
// H.-Y. Chen, W.-L. Chao. FedBE: Making Bayesian Model Ensemble Applicable to Federated Learning.
// ICLR 2021.
#pragma once

#include <limits>
#include <tuple>

#include "simulator/partition/cut.h"
#include "simulator/partition/registry.h"

namespace boba::sim {

struct StepOptions {
  int majors = 2;                        // main classes of a client
  double alpha = 2;                      // how much more of a main class; infinity: nothing else
  ClassOrder order = ClassOrder::kFile;  // of the examples of a class

  static constexpr Info info() {
    return {
        .name = "step",
        .summary = "every class, but more of the client's main classes",
        .computes =
            "A client has weight 1 in every class, plus alpha - 1 for each time the class stands "
            "among its majors, which are dealt as in pairs. The examples of a class, in order, are "
            "cut in proportion to the weights. alpha=1 gives every client the same mix; alpha=inf "
            "with two majors is pairs. A third and further majors of the pair (a, b) are "
            "(a + b) mod c, (a + 2b) mod c, and so on. The seed plays no part but in "
            "order=shuffled.",
        .condition =
            "Clients a multiple of c^2, or of c with majors=1; as many examples as clients.",
        .cost = "one pass over the labels",
        .citation =
            "H.-Y. Chen, W.-L. Chao. FedBE: Making Bayesian Model Ensemble Applicable to "
            "Federated Learning. ICLR 2021.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("majors", &StepOptions::majors, "main classes of a client").between(1, 256),
        field("alpha", &StepOptions::alpha, "weight of a main class; inf: no other class")
            .between(1, std::numeric_limits<double>::infinity()),
        field("order", &StepOptions::order, "in which the examples of a class are dealt")
            .one_of(kClassOrderNames)};
  }
};

Result<NamedPartition> make_step(const StepOptions& options);

}  // namespace boba::sim
