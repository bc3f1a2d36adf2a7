// BOBA with one distance: how far an update is from the simplex of the class gradients.
//
// Honest updates lie near a (c-1)-simplex whose corners are the gradients of single classes. BOBA
// asks two questions, whether an update is near the plane of that simplex and whether its label mix
// has a share below a threshold, and it takes the corners from the server's few samples. This rule
// refines the corners from the clients, and measures one distance in the whole space, in multiples
// of the typical client's. With a memory of earlier rounds it also asks whether a client's label
// mix stays the same, and it leaves out clients that failed again and again.
#pragma once

#include <tuple>

#include "boba/core/aggregator.h"
#include "boba/core/options.h"

namespace boba {

// The number of corners is read off the updates.
inline constexpr int kAutoClasses = -1;

struct BobaHullOptions {
  int f = 0;            // Byzantine clients tolerated
  double kappa = 4;     // typical distances that an accepted client may be away from the simplex
  int classes = 0;      // 0: the server's rows are the corners; else how many to find
  int max_passes = 15;  // planes fitted at most

  static constexpr Info info() {
    return {.name = "boba-hull",
            .summary = "mean of the updates near the simplex of the class gradients; remembers",
            .computes =
                "Fits a plane of c - 1 dimensions to the n - f updates nearest to the simplex of "
                "the class gradients, finds corners in it that explain these updates by label "
                "mixes, beginning with the server's gradients, and repeats until the set stays "
                "the same. A client passes if its distance from the simplex is at most kappa "
                "times the median distance. With a memory, a client also fails if its label mix "
                "differs from what it was in earlier rounds, or if it failed often. The result is "
                "the mean of the updates that pass (at least the n - 2f nearest).",
            .condition =
                "Needs f < n, and one server gradient per class, not all equal, or classes. "
                "Any n - 2f honest clients must hold every class between them. Without server data "
                "the clients must also differ by their label mixes more than by noise; the verdict "
                "warns if they do not.",
            .cost =
                "one Gram pass over clients and server rows, one output pass; k (n^2 c + 4 n c^3) "
                "in n-space for k passes (3 to 6)",
            .citation =
                "Of this project; after W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust "
                "Federated Learning with Label Skewness. AISTATS 2024."};
  }
  static constexpr auto fields() {
    return std::tuple{
        field("f", &BobaHullOptions::f, "Byzantine clients tolerated").between(0, 1 << 20),
        field("kappa", &BobaHullOptions::kappa,
              "typical distances that an accepted client may be away from the simplex")
            .between(1, 1e6),
        field("classes", &BobaHullOptions::classes,
              "corners to find among the clients; 0: one server gradient per class")
            .between(0, 100000)
            .or_word("auto", kAutoClasses),
        field("max_passes", &BobaHullOptions::max_passes, "planes fitted at most")
            .between(1, 100000)};
  }
};

Result<Aggregator> make_boba_hull(const BobaHullOptions& options);

}  // namespace boba
