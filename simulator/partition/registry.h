// The partitions by name. Adding one is adding a line to the table in registry.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "boba/core/options.h"
#include "simulator/partition/partition.h"

namespace boba::sim {

// A scheme and its canonical spelling.
struct NamedPartition {
  PartitionSchemePtr scheme;
  std::string spec;
};

using PartitionEntry = Entry<NamedPartition>;

std::span<const PartitionEntry> partitions();

// "step(majors=2,alpha=4)".
Result<NamedPartition> make_partition(std::string_view spec);
Result<NamedPartition> make_partition(const Params& stage);

}  // namespace boba::sim
