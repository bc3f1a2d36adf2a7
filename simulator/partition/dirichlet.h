// dirichlet: each client's label mix is drawn from a Dirichlet distribution around that of all.
//
// T.-M. H. Hsu, H. Qi, M. Brown. Measuring the Effects of Non-Identical Data Distribution for
// Federated Visual Classification. 2019. arXiv:1909.06335.
#pragma once

#include <tuple>

#include "simulator/partition/registry.h"

namespace boba::sim {

struct DirichletOptions {
  double alpha = 0.01;  // concentration: small is one class for each client, large is iid

  static constexpr Info info() {
    return {
        .name = "dirichlet",
        .summary = "label mixes drawn from a Dirichlet distribution",
        .computes =
            "Client i draws a label mix q_i from Dirichlet(alpha * p), where p is the mix of all "
            "examples. The examples of class z, in order, are cut in proportion to q_1z, q_2z, "
            "..., so that every example is used once. The draw of a client depends on the seed and "
            "its number only.",
        .condition =
            "As many examples as clients. A client that would be left without any gets one from "
            "the client with the most.",
        .cost = "one Gamma number for each client and class, and one pass over the labels",
        .citation =
            "T.-M. H. Hsu, H. Qi, M. Brown. Measuring the Effects of Non-Identical Data "
            "Distribution for Federated Visual Classification. 2019. arXiv:1909.06335.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("alpha", &DirichletOptions::alpha, "concentration; large is iid").between(1e-6, 1e9)};
  }
};

Result<NamedPartition> make_dirichlet(const DirichletOptions& options);

}  // namespace boba::sim
