#include "tools/sim/results_mean.h"

#include <cstddef>
#include <map>
#include <sstream>

namespace boba::tools {
namespace {

// The settings without the line about the seed.
std::string without_seed(const std::string& config) {
  std::istringstream lines(config);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("seed = ")) rest += line + '\n';
  }
  return rest;
}

// Data of the same name may differ; their checksum, a line, comes first.
std::string key_of(const sim::RunHeader& header) {
  return header.data + '\n' + without_seed(header.config);
}

struct Numbers {
  std::vector<double> accuracy;
  std::vector<double> mrd;
  std::vector<double> seconds;
};

}  // namespace

std::vector<RunGroup> group_by_seed(std::span<const sim::RunRecord> runs) {
  std::vector<RunGroup> groups;
  std::vector<Numbers> numbers;
  std::map<std::string, std::size_t> places;
  for (const sim::RunRecord& run : runs) {
    if (run.status != sim::RunStatus::kFinished) continue;
    const auto [place, fresh] = places.try_emplace(key_of(run.header), groups.size());
    if (fresh) {
      groups.emplace_back().header = run.header;
      numbers.emplace_back();
    }
    ++groups[place->second].runs;
    Numbers& own = numbers[place->second];
    if (run.accuracy) own.accuracy.push_back(*run.accuracy);
    if (run.mrd) own.mrd.push_back(*run.mrd);
    own.seconds.push_back(run.seconds);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i].accuracy = sim::report::statistics_of(numbers[i].accuracy);
    groups[i].mrd = sim::report::statistics_of(numbers[i].mrd);
    groups[i].seconds = sim::report::statistics_of(numbers[i].seconds);
  }
  return groups;
}

}  // namespace boba::tools
