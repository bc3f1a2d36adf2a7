#include "simulator/partition/partition.h"

namespace boba::sim {

std::vector<std::vector<std::size_t>> label_table(const Partition& partition,
                                                  std::span<const std::uint8_t> labels,
                                                  std::size_t classes) {
  std::vector<std::vector<std::size_t>> table;
  for (const auto& examples : partition.clients) {
    std::vector<std::size_t>& counts = table.emplace_back(classes, 0);
    for (const std::uint32_t example : examples) ++counts[labels[example]];
  }
  return table;
}

}  // namespace boba::sim
