// FederationPlan: who holds which examples, drawn from the experiment's seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "boba/core/result.h"
#include "simulator/data/dataset.h"
#include "simulator/experiment/resolved.h"
#include "simulator/store/records.h"

namespace boba::sim {

// Examples of the training set that one trains on together.
struct ShardPlan {
  std::vector<std::uint32_t> examples;
  std::string corruption;  // "" if none
};

struct FederationPlan {
  std::vector<ShardPlan> honest;  // one per honest client
  // One per class, or as many as the rule wants of each class, a class's one after the other; empty
  // if the server has no data.
  std::vector<ShardPlan> server;
  std::size_t server_parts = 1;       // of each class
  std::vector<std::uint32_t> test;    // examples of the test set
  std::vector<ClientRecord> clients;  // honest ones, then Byzantine ones
  bool flipped = false;  // Byzantine client j trains on honest client j's examples, labels flipped

  std::size_t server_examples() const;
};

// REQUIRES: the experiment has no fault.
Result<FederationPlan> make_plan(const ResolvedExperiment& experiment, const Dataset& dataset);

// The share of every class in each of these clients' examples, client by client.
std::vector<double> label_mixes(std::span<const ClientRecord> all, std::span<const int> clients);

// Experiments with the same key have the same plan: those that differ in rule, attack or training
// alone, for example.
std::string plan_key(const ResolvedExperiment& experiment);

// Byzantine client j has the examples of this honest client.
inline std::size_t flipped_source(std::size_t j, std::size_t honest) { return j % honest; }

// Examples kept of each class, in rising order: `wanted` in all, the same share of every class;
// 0: all of them. The draw depends on seed and part only.
std::vector<std::uint32_t> keep_share(const std::vector<std::uint8_t>& labels, std::size_t classes,
                                      std::size_t wanted, std::uint64_t seed, std::uint32_t part);

}  // namespace boba::sim
