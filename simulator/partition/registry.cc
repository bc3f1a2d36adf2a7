#include "simulator/partition/registry.h"

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
  const Result<Params> stage = parse_single("partition", spec);
  if (!stage) return stage.error();
  return make_partition(*stage);
}

Result<NamedPartition> make_partition(const Params& stage) {
  if (const PartitionEntry* entry = find_entry(partitions(), stage.name)) return entry->make(stage);
  return unknown_name("partition", stage.name, entry_names(partitions()));
}

}  // namespace boba::sim
