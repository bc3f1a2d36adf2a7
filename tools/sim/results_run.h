// Everything of one run, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulator/store/store.h"

namespace boba::tools {

struct WholeRun {
  sim::RunRecord record;
  std::vector<sim::ClientRecord> clients;
  std::vector<sim::RoundRecord> rounds;
  std::vector<sim::EvaluationRecord> evaluations;
  std::optional<sim::EstimateRecord> estimate;
};

Result<WholeRun> read_whole_run(const sim::Store& store, std::int64_t run);

std::string run_text(const WholeRun& run);
std::string run_json(const WholeRun& run);

}  // namespace boba::tools
