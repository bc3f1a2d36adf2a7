#include "simulator/report/report_data.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace boba::sim::report {
namespace {

// The number of rounds of a point. It depends on the planned rounds, not on the finished ones, so
// that the points of several seeds are at the same rounds.
int rounds_per_point(const RunHeader& header, int last_round) {
  const int rounds = std::max({1, header.rounds, last_round});
  return rounds / kMostPoints + (rounds % kMostPoints == 0 ? 0 : 1);
}

struct Present {
  int honest = 0;
  int byzantine = 0;
};

Present present_in(const RunHeader& header, const RoundRecord& round) {
  if (round.participants.empty()) return {header.honest, header.byzantine};
  Present present;
  for (int client : round.participants) {
    ++(client < header.honest ? present.honest : present.byzantine);
  }
  return present;
}

// Sums over the rounds of a point.
struct Sums {
  RoundPoint sum;
  double rounds = 0;
  double errors = 0;  // rounds with a label error

  void add(const RunHeader& header, const RoundRecord& round) {
    const Present present = present_in(header, round);
    sum.round = round.round;
    sum.honest_accepted += std::max(0, present.honest - round.false_rejects);
    sum.honest_left_out += std::max(0, round.false_rejects);
    sum.byzantine_accepted += std::max(0, round.false_accepts);
    sum.byzantine_left_out += std::max(0, present.byzantine - round.false_accepts);
    rounds += 1;
    if (round.label_error && std::isfinite(*round.label_error)) {
      sum.label_error = sum.label_error.value_or(0) + *round.label_error;
      errors += 1;
    }
  }
  RoundPoint mean() const {
    RoundPoint point = sum;
    for (double* value : {&point.honest_accepted, &point.honest_left_out, &point.byzantine_accepted,
                          &point.byzantine_left_out}) {
      *value /= rounds;
    }
    if (point.label_error) *point.label_error /= errors;
    return point;
  }
};

void take_last_evaluation(RunData& run, const EvaluationRecord& last) {
  const std::size_t classes = last.recall.size();
  run.recall = last.recall;
  if (last.confusion.size() == classes * classes) run.confusion = last.confusion;
}

void take_notes(RunData& run, std::span<const RoundRecord> rounds) {
  for (const RoundRecord& round : rounds) {
    if (round.note.empty()) continue;
    if (run.noted_rounds++ == 0) run.first_note = round.note;
  }
}

Result<RunData> read_run(const Store& store, RunRecord record) {
  RunData run;
  const std::int64_t id = record.id;
  run.record = std::move(record);
  Result<std::vector<EvaluationRecord>> evaluations = store.evaluations(id);
  if (!evaluations) return evaluations.error();
  Result<std::vector<RoundRecord>> rounds = store.rounds(id);
  if (!rounds) return rounds.error();
  Result<std::vector<ClientRecord>> clients = store.clients(id);
  if (!clients) return clients.error();
  Result<std::optional<EstimateRecord>> estimate = store.last_estimate(id);
  if (!estimate) return estimate.error();
  run.curve = reduce_curve(run.record.header, *evaluations);
  run.rounds = reduce_rounds(run.record.header, *rounds);
  run.phases = mean_phases(*rounds);
  if (!evaluations->empty()) take_last_evaluation(run, evaluations->back());
  take_notes(run, *rounds);
  run.clients = std::move(*clients);
  run.estimate = std::move(*estimate);
  return run;
}

}  // namespace

std::vector<AccuracyPoint> reduce_curve(const RunHeader& header,
                                        std::span<const EvaluationRecord> evaluations) {
  std::vector<AccuracyPoint> curve;
  if (evaluations.empty()) return curve;
  const int width = rounds_per_point(header, evaluations.back().round);
  for (const EvaluationRecord& evaluation : evaluations) {
    if (!std::isfinite(evaluation.accuracy)) continue;
    const AccuracyPoint point{evaluation.round, evaluation.accuracy};
    // The last of a group represents it: a mean would show an accuracy that no model had.
    if (!curve.empty() && (curve.back().round - 1) / width == (point.round - 1) / width) {
      curve.back() = point;
    } else {
      curve.push_back(point);
    }
  }
  return curve;
}

std::vector<RoundPoint> reduce_rounds(const RunHeader& header,
                                      std::span<const RoundRecord> rounds) {
  std::vector<RoundPoint> points;
  if (rounds.empty()) return points;
  const int width = rounds_per_point(header, rounds.back().round);
  Sums sums;
  for (const RoundRecord& round : rounds) {
    if (sums.rounds > 0 && (sums.sum.round - 1) / width != (round.round - 1) / width) {
      points.push_back(sums.mean());
      sums = {};
    }
    sums.add(header, round);
  }
  points.push_back(sums.mean());
  return points;
}

std::optional<PhaseSeconds> mean_phases(std::span<const RoundRecord> rounds) {
  if (rounds.empty()) return std::nullopt;
  PhaseSeconds mean;
  const auto count = static_cast<double>(rounds.size());
  for (const RoundRecord& round : rounds) {
    mean.train += round.train_seconds / count;
    mean.attack += round.attack_seconds / count;
    mean.aggregate += round.aggregate_seconds / count;
    mean.evaluate += round.evaluate_seconds / count;
  }
  const double sum = mean.train + mean.attack + mean.aggregate + mean.evaluate;
  if (!std::isfinite(sum)) return std::nullopt;
  return mean;
}

Result<std::vector<RunData>> read_runs(const Store& store, std::string_view where) {
  Result<std::vector<RunRecord>> records = store.runs(where);
  if (!records) return records.error();
  std::vector<RunData> runs;
  for (RunRecord& record : *records) {
    Result<RunData> run = read_run(store, std::move(record));
    if (!run) return run.error();
    runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace boba::sim::report
