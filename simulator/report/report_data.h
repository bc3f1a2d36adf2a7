// The data of each run that a page shows, read from the store once and thinned for plots.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boba/core/result.h"
#include "simulator/store/records.h"
#include "simulator/store/store.h"

namespace boba::sim::report {

inline constexpr int kMostPoints = 200;  // of a curve

struct AccuracyPoint {
  int round = 0;
  double accuracy = 0;
};

// Means over a few neighbouring rounds, or a single round of a short run.
struct RoundPoint {
  int round = 0;  // the last of them
  double honest_accepted = 0;
  double honest_left_out = 0;
  double byzantine_accepted = 0;
  double byzantine_left_out = 0;
  std::optional<double> label_error;
};

// Seconds of a round, on average.
struct PhaseSeconds {
  double train = 0;
  double attack = 0;
  double aggregate = 0;
  double evaluate = 0;
};

struct RunData {
  RunRecord record;
  std::vector<AccuracyPoint> curve;
  std::vector<RoundPoint> rounds;
  std::optional<PhaseSeconds> phases;
  std::vector<double> recall;           // of the last evaluation; empty: none
  std::vector<std::int64_t> confusion;  // the same; classes x classes or empty
  std::vector<ClientRecord> clients;
  std::optional<EstimateRecord> estimate;
  std::size_t noted_rounds = 0;  // rounds with a note
  std::string first_note;

  bool finished() const { return record.status == RunStatus::kFinished; }
};

// The parts of RunData that come from one table each.
std::vector<AccuracyPoint> reduce_curve(const RunHeader& header,
                                        std::span<const EvaluationRecord> evaluations);
std::vector<RoundPoint> reduce_rounds(const RunHeader& header, std::span<const RoundRecord> rounds);
std::optional<PhaseSeconds> mean_phases(std::span<const RoundRecord> rounds);

// The runs that where selects, in the order of their ids.
Result<std::vector<RunData>> read_runs(const Store& store, std::string_view where);

}  // namespace boba::sim::report
