// What the rounds of many runs took on average: for the tables beside the figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "reproduction/earlier.h"
#include "reproduction/results.h"
#include "simulator/store/store.h"

namespace boba::reproduction {

// A mean and how many rounds it is over.
struct RoundMean {
  double mean = 0;
  std::size_t rounds = 0;
};

struct RoundMeans {
  RoundMean milliseconds;  // of an aggregation
  RoundMean fits;          // of a subspace
};

Result<RoundMeans> round_means(const sim::Store& store, const std::vector<std::int64_t>& runs);

// The finished runs of a rule, by data set.
std::map<std::string, std::vector<std::int64_t>> runs_of(const PaperResults& results,
                                                         std::string_view rule);

// The one of an earlier report where it is over more rounds: points.csv has it as the series of a
// measurement, x being the rounds.
void take_longer(const EarlierReport* earlier, std::string_view experiment,
                 std::string_view measurement, std::map<std::string, RoundMean>& means);

}  // namespace boba::reproduction
