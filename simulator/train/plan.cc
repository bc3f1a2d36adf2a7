#include "simulator/train/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>

#include "boba/core/random.h"
#include "simulator/data/corruption.h"

namespace boba::sim {
namespace {

constexpr std::uint32_t kTrainPart = 0;
constexpr std::uint32_t kTestPart = 1;

std::vector<std::vector<std::uint32_t>> by_class(const std::vector<std::uint8_t>& labels,
                                                 std::size_t classes) {
  std::vector<std::vector<std::uint32_t>> lists(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    lists[labels[i]].push_back(static_cast<std::uint32_t>(i));
  }
  return lists;
}

std::string corruption_of(const DataSection& data, std::size_t client) {
  if (data.corruption == "none") return "";
  if (data.corruption != "all") return data.corruption;
  const auto all = common_corruptions();
  return std::string(all[client % all.size()].name);
}

// Samples that the server holds of each class.
Result<std::vector<std::size_t>> server_counts_of(const ResolvedExperiment& experiment,
                                                  std::size_t classes) {
  const ServerSection& server = experiment.server;
  if (server.counts.empty()) {
    return std::vector<std::size_t>(classes, static_cast<std::size_t>(server.per_class));
  }
  const std::vector<std::size_t> counts(experiment.server_counts.begin(),
                                        experiment.server_counts.end());
  if (counts.size() != classes) {
    return invalid_argument(
        fmt::format("server.counts = \"{}\" has {} numbers; the data set has "
                    "{} classes",
                    server.counts, counts.size(), classes));
  }
  return counts;
}

Result<std::vector<ShardPlan>> server_shards(const ResolvedExperiment& experiment,
                                             const Dataset& dataset, std::size_t parts) {
  const auto counts = server_counts_of(experiment, dataset.classes.size());
  if (!counts) return counts.error();
  if (std::accumulate(counts->begin(), counts->end(), std::size_t{0}) == 0) {
    return std::vector<ShardPlan>{};
  }
  const auto members = by_class(dataset.train.labels, dataset.classes.size());
  std::vector<ShardPlan> shards(members.size() * parts);
  for (std::size_t z = 0; z < members.size(); ++z) {
    const std::size_t wanted = (*counts)[z];
    if (wanted < parts || wanted > members[z].size()) {
      return invalid_argument(
          fmt::format("the server needs {} samples of class {}; allowed: {} to {}", wanted,
                      dataset.classes[z], parts, members[z].size()));
    }
    const auto order = permutation({.seed = experiment.seed,
                                    .client = static_cast<std::uint32_t>(z),
                                    .purpose = Purpose::kServerSample},
                                   members[z].size());
    for (std::size_t j = 0; j < parts; ++j) {
      ShardPlan& shard = shards[z * parts + j];
      for (std::size_t k = wanted * j / parts; k < wanted * (j + 1) / parts; ++k) {
        shard.examples.push_back(members[z][order[k]]);
      }
      if (experiment.server.noise != "none") shard.corruption = experiment.server.noise;
    }
  }
  return shards;
}

Result<std::vector<ShardPlan>> honest_shards(const ResolvedExperiment& experiment,
                                             const Dataset& dataset) {
  const std::size_t classes = dataset.classes.size();
  const auto kept =
      keep_share(dataset.train.labels, classes, static_cast<std::size_t>(experiment.data.train),
                 experiment.seed, kTrainPart);
  std::vector<std::uint8_t> labels;
  labels.reserve(kept.size());
  for (const std::uint32_t example : kept) labels.push_back(dataset.train.labels[example]);

  const auto dealt =
      experiment.scheme->deal({.labels = labels,
                               .classes = classes,
                               .clients = static_cast<std::size_t>(experiment.federation.honest),
                               .seed = experiment.seed});
  if (!dealt) return dealt.error();

  std::vector<ShardPlan> shards(dealt->clients.size());
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (dealt->clients[i].empty()) {
      return invalid_argument(
          fmt::format("client {} of {} has no example; use fewer clients or more than {} examples",
                      i, shards.size(), kept.size()));
    }
    shards[i].corruption = corruption_of(experiment.data, i);
    for (const std::uint32_t example : dealt->clients[i]) {
      shards[i].examples.push_back(kept[example]);
    }
  }
  return shards;
}

std::vector<std::size_t> count_labels(const ShardPlan& shard, const Dataset& dataset) {
  std::vector<std::size_t> counts(dataset.classes.size(), 0);
  for (const std::uint32_t example : shard.examples) ++counts[dataset.train.labels[example]];
  return counts;
}

}  // namespace

std::size_t FederationPlan::server_examples() const {
  std::size_t sum = 0;
  for (const ShardPlan& shard : server) sum += shard.examples.size();
  return sum;
}

std::vector<std::uint32_t> keep_share(const std::vector<std::uint8_t>& labels, std::size_t classes,
                                      std::size_t wanted, std::uint64_t seed, std::uint32_t part) {
  std::vector<std::uint32_t> kept;
  if (wanted == 0 || wanted >= labels.size()) {
    kept.resize(labels.size());
    std::iota(kept.begin(), kept.end(), 0U);
    return kept;
  }
  const auto members = by_class(labels, classes);
  std::size_t seen = 0;
  for (std::size_t z = 0; z < classes; ++z) {
    // Cumulative rounding: the classes' numbers add up to `wanted`.
    const std::size_t before = seen * wanted / labels.size();
    seen += members[z].size();
    const std::size_t share = seen * wanted / labels.size() - before;
    const auto order = permutation({.seed = seed,
                                    .round = part,
                                    .client = static_cast<std::uint32_t>(z),
                                    .purpose = Purpose::kSubset},
                                   members[z].size());
    for (std::size_t k = 0; k < share; ++k) kept.push_back(members[z][order[k]]);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

Result<FederationPlan> make_plan(const ResolvedExperiment& experiment, const Dataset& dataset) {
  FederationPlan plan;
  auto honest = honest_shards(experiment, dataset);
  if (!honest) return honest.error();
  plan.honest = std::move(*honest);
  plan.server_parts = experiment.aggregator.server_parts();
  auto server = server_shards(experiment, dataset, plan.server_parts);
  if (!server) return server.error();
  plan.server = std::move(*server);
  plan.test =
      keep_share(dataset.test.labels, dataset.classes.size(),
                 static_cast<std::size_t>(experiment.data.test), experiment.seed, kTestPart);

  for (std::size_t i = 0; i < plan.honest.size(); ++i) {
    plan.clients.push_back({.client = static_cast<int>(i),
                            .honest = true,
                            .labels = count_labels(plan.honest[i], dataset),
                            .corruption = plan.honest[i].corruption});
  }
  plan.flipped = experiment.label_flip.has_value();
  const std::size_t classes = dataset.classes.size();
  for (int j = 0; j < experiment.federation.byzantine; ++j) {
    ClientRecord client{.client = experiment.federation.honest + j,
                        .honest = false,
                        .labels = std::vector<std::size_t>(classes, 0),
                        .corruption = ""};
    if (plan.flipped) {
      const ClientRecord& source =
          plan.clients[flipped_source(static_cast<std::size_t>(j), plan.honest.size())];
      for (std::size_t z = 0; z < classes; ++z) {
        client.labels[experiment.label_flip->flip(z, classes)] = source.labels[z];
      }
      client.corruption = source.corruption;
    }
    plan.clients.push_back(std::move(client));
  }
  return plan;
}

std::vector<double> label_mixes(std::span<const ClientRecord> all, std::span<const int> clients) {
  std::vector<double> mixes;
  for (const int client : clients) {
    const std::vector<std::size_t>& labels = all[static_cast<std::size_t>(client)].labels;
    const auto sum =
        static_cast<double>(std::accumulate(labels.begin(), labels.end(), std::size_t{0}));
    for (const std::size_t count : labels) mixes.push_back(static_cast<double>(count) / sum);
  }
  return mixes;
}

std::string plan_key(const ResolvedExperiment& experiment) {
  ResolvedExperiment relevant = experiment;
  relevant.model = {};
  relevant.training = {};
  relevant.run = {};
  relevant.sketch.reset();
  // The plan depends on these alone of the rule and the attack.
  relevant.rule = fmt::format("{}", experiment.aggregator.server_parts());
  relevant.attack = experiment.label_flip ? canonical(*experiment.label_flip) : "";
  return canonical_text(relevant);
}

}  // namespace boba::sim
