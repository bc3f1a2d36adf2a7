// Everything of one run, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "boba/store/store.h"

namespace boba::tools {

struct WholeRun {
  RunRecord record;
  std::vector<ClientRecord> clients;
  std::vector<RoundRecord> rounds;
  std::vector<EvaluationRecord> evaluations;
  std::optional<EstimateRecord> estimate;
};

Result<WholeRun> read_whole_run(const Store& store, std::int64_t run);

std::string run_text(const WholeRun& run);
std::string run_json(const WholeRun& run);

}  // namespace boba::tools
