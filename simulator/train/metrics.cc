#include "simulator/train/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "boba/rules/subspace_report.h"

namespace boba::sim {
namespace {

// The client behind a row of the round.
int client_of_row(const Cohort& cohort, int honest, std::size_t row) {
  if (row < cohort.honest.size()) return cohort.honest[row];
  return honest + cohort.byzantine[row - cohort.honest.size()];
}

int honest_clients(std::span<const ClientRecord> clients) {
  int honest = 0;
  for (const ClientRecord& client : clients) honest += client.honest ? 1 : 0;
  return honest;
}

// Half the sum of absolute differences: 0 if the mixes are equal, 1 if they share no class.
double mix_distance(std::span<const double> estimate, std::span<const std::size_t> counts) {
  const double sum =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  double distance = 0;
  for (std::size_t z = 0; z < counts.size(); ++z) {
    distance += std::abs(estimate[z] - static_cast<double>(counts[z]) / sum);
  }
  return distance / 2;
}

}  // namespace

EvaluationRecord measure(const Evaluation& evaluation, std::size_t classes, int round) {
  EvaluationRecord record;
  record.round = round;
  if (std::isfinite(evaluation.loss)) record.loss = evaluation.loss;
  record.confusion = evaluation.confusion;
  std::int64_t right = 0;
  std::int64_t all = 0;
  for (std::size_t z = 0; z < classes; ++z) {
    std::int64_t members = 0;
    for (std::size_t k = 0; k < classes; ++k) members += evaluation.confusion[z * classes + k];
    const std::int64_t hits = evaluation.confusion[z * classes + z];
    record.recall.push_back(members == 0
                                ? std::numeric_limits<double>::quiet_NaN()
                                : static_cast<double>(hits) / static_cast<double>(members));
    right += hits;
    all += members;
  }
  record.accuracy = all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all);
  return record;
}

Evaluation of_lost_model(Evaluation evaluation, std::size_t classes) {
  evaluation.loss = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t z = 0; z < classes; ++z) {
    const auto row = evaluation.confusion.begin() + static_cast<std::ptrdiff_t>(z * classes);
    const auto end = row + static_cast<std::ptrdiff_t>(classes);
    const std::int64_t members = std::accumulate(row, end, std::int64_t{0});
    std::fill(row, end, 0);
    *row = members;
  }
  return evaluation;
}

void judge(const Verdict& verdict, const Cohort& cohort, std::span<const ClientRecord> clients,
           RoundRecord& record) {
  const int honest = honest_clients(clients);
  double distance = 0;
  std::size_t estimated = 0;
  for (std::size_t row = 0; row < verdict.clients.size(); ++row) {
    const ClientVerdict& decided = verdict.clients[row];
    const int id = client_of_row(cohort, honest, row);
    const ClientRecord& client = clients[static_cast<std::size_t>(id)];
    if (!decided.accepted) record.rejected.push_back(id);
    if (decided.accepted && !client.honest) ++record.false_accepts;
    if (!decided.accepted && client.honest) ++record.false_rejects;
    if (client.honest && decided.label_mix.size() == client.labels.size()) {
      distance += mix_distance(decided.label_mix, client.labels);
      ++estimated;
    }
  }
  if (estimated > 0) record.label_error = distance / static_cast<double>(estimated);
  if (const auto subspace = subspace_of(verdict)) record.fits = static_cast<int>(subspace->fits);
}

EstimateRecord estimates(const Verdict& verdict, const Cohort& cohort, int honest, int round) {
  EstimateRecord record;
  record.round = round;
  for (std::size_t row = 0; row < verdict.clients.size(); ++row) {
    if (verdict.clients[row].label_mix.empty()) continue;
    record.clients.push_back(client_of_row(cohort, honest, row));
    record.shares.push_back(verdict.clients[row].label_mix);
  }
  return record;
}

}  // namespace boba::sim
