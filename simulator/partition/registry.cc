#include "simulator/partition/registry.h"

#include <fmt/format.h>

#include <vector>

#include "boba/text/names.h"
#include "simulator/partition/dirichlet.h"
#include "simulator/partition/iid.h"
#include "simulator/partition/pairs.h"
#include "simulator/partition/shards.h"
#include "simulator/partition/step.h"

namespace boba::sim {
namespace {

template <class Options, Result<NamedPartition> (*Make)(const Options&)>
constexpr PartitionEntry partition() {
  return entry<Options, NamedPartition, Make>();
}

constexpr PartitionEntry kPartitions[] = {
    partition<DirichletOptions, make_dirichlet>(), partition<IidOptions, make_iid>(),
    partition<PairsOptions, make_pairs>(),         partition<ShardsOptions, make_shards>(),
    partition<StepOptions, make_step>(),
};

}  // namespace

std::span<const PartitionEntry> partitions() { return kPartitions; }

Result<NamedPartition> make_partition(std::string_view spec) {
  const Result<std::vector<Params>> stages = parse_spec(spec);
  if (!stages) return stages.error();
  if (stages->size() != 1) {
    return invalid_argument(
        fmt::format("a partition stands alone; got {} stages in '{}'", stages->size(), spec));
  }
  const Params& params = stages->front();
  std::vector<std::string_view> names;
  for (const PartitionEntry& entry : kPartitions) {
    if (entry.info.name == params.name) return entry.make(params);
    names.push_back(entry.info.name);
  }
  const std::string close = suggestion(params.name, names);
  return invalid_argument(fmt::format("no partition '{}'{} partitions are: {}", params.name,
                                      close.empty() ? ";" : close, join(names)));
}

}  // namespace boba::sim
