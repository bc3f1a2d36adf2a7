#include "reproduction/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace boba::reproduction {
namespace {

void add(double value, RoundMean& mean) {
  mean.mean += value;
  ++mean.rounds;
}

void divide(RoundMean& mean) {
  if (mean.rounds > 0) mean.mean /= static_cast<double>(mean.rounds);
}

void note(std::vector<std::string>& list, const std::string& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// Runs that take about as long as each other: the same data, model and training.
std::string pace_key(const sim::Experiment& e) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", e.data.set, e.data.train, e.model.kind,
                     e.model.script, sim::algorithm_name(e.training.algorithm),
                     e.federation.honest);
}

// The data set of most finished runs, by name: others of that name are another story.
std::map<std::string, std::string> main_data(const std::vector<PaperRun>& runs,
                                             const RunIndex& index) {
  std::map<std::string, std::map<std::string, std::size_t>> counts;
  for (const PaperRun& run : runs) {
    for (const sim::RunRecord* record : index.find(sim::canonical_text(run.experiment))) {
      if (record->status == sim::RunStatus::kFinished) ++counts[run.dataset][record->header.data];
    }
  }
  std::map<std::string, std::string> chosen;
  for (const auto& entry : counts) {
    const auto most =
        std::max_element(entry.second.begin(), entry.second.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    chosen[entry.first] = most->first;
  }
  return chosen;
}

Result<void> measure_data(const sim::Store& store, std::int64_t run, DatasetFacts& facts) {
  const auto clients = store.clients(run);
  if (!clients) return clients.error();
  for (const sim::ClientRecord& client : *clients) {
    if (client.honest) {
      facts.train = std::accumulate(client.labels.begin(), client.labels.end(), facts.train);
    }
  }
  const auto evaluations = store.evaluations(run);
  if (!evaluations) return evaluations.error();
  if (evaluations->empty()) return {};
  const auto& confusion = evaluations->back().confusion;
  facts.test = static_cast<std::size_t>(
      std::accumulate(confusion.begin(), confusion.end(), std::int64_t{0}));
  return {};
}

void take(const sim::RunRecord& record, Cell& cell, DatasetFacts& facts) {
  cell.ids.push_back(record.id);
  const std::uint64_t seed = record.header.seed;
  if (record.accuracy) cell.accuracy.by_seed[seed] = 100 * *record.accuracy;
  if (record.mrd) cell.mrd.by_seed[seed] = 100 * *record.mrd;
  ++facts.finished;
  facts.rounds = record.header.rounds;
  facts.honest = record.header.honest;
  if (record.header.byzantine > 0) facts.byzantine.insert(record.header.byzantine);
  facts.versions.insert(record.header.version);
}

}  // namespace

std::size_t Numbers::seeds() const {
  return std::max(by_seed.size(), summary ? summary->seeds : 0);
}

std::string setting_text(const std::string& setting, const std::string& second) {
  return second.empty() ? setting : setting + "/" + second;
}

Result<RunIndex> RunIndex::read(const sim::Store& store) {
  RunIndex index;
  auto runs = store.runs();
  if (!runs) return runs.error();
  index.runs_ = *std::move(runs);
  for (std::size_t i = 0; i < index.runs_.size(); ++i) {
    const sim::RunRecord& run = index.runs_[i];
    index.by_config_.emplace(run.header.config, i);
    if (run.rounds_done == 0) continue;
    const auto experiment = sim::experiment_from_text(run.header.config);
    if (!experiment) continue;  // of another version of boba
    auto& pace = index.pace_[pace_key(*experiment)];
    pace.first += run.seconds;
    pace.second += run.rounds_done;
  }
  return index;
}

std::vector<const sim::RunRecord*> RunIndex::find(const std::string& config) const {
  std::vector<const sim::RunRecord*> found;
  const auto range = by_config_.equal_range(config);
  for (auto each = range.first; each != range.second; ++each) {
    found.push_back(&runs_[each->second]);
  }
  return found;
}

std::optional<double> RunIndex::seconds_of_round(const sim::Experiment& experiment) const {
  const auto found = pace_.find(pace_key(experiment));
  if (found == pace_.end()) return std::nullopt;
  return found->second.first / found->second.second;
}

Result<PaperResults> collect(const PaperFile& file, const PaperOptions& options,
                             const RunIndex& index, const sim::Store* store) {
  auto expanded = expand(file, options);
  if (!expanded) return expanded.error();
  PaperResults results;
  results.file = file;
  results.grids_left_out = expanded->grids_left_out;
  const auto data = main_data(expanded->runs, index);
  double left = 0;
  bool known = true;
  for (const PaperRun& run : expanded->runs) {
    note(results.datasets, run.dataset);
    note(results.settings, run.setting);
    note(results.seconds, run.second);
    note(results.rules, run.rule);
    note(results.attacks, run.attack);
    Cell& cell = results.cells[{run.dataset, run.setting, run.second, run.rule, run.attack}];
    DatasetFacts& facts = results.facts[run.dataset];
    cell.seeds.insert(run.experiment.seed);
    ++results.wanted;
    int rounds_left = run.experiment.training.rounds;
    for (const sim::RunRecord* record : index.find(sim::canonical_text(run.experiment))) {
      const auto chosen = data.find(run.dataset);
      if (record->rounds_done > 0) ++cell.started;
      if (record->status != sim::RunStatus::kFinished) {
        rounds_left = std::min(rounds_left, record->header.rounds - record->rounds_done);
        continue;
      }
      if (chosen != data.end() && record->header.data != chosen->second) {
        ++facts.other_data;
        continue;
      }
      const bool first = facts.finished == 0;
      take(*record, cell, facts);
      ++results.finished;
      rounds_left = 0;
      if (first && store != nullptr) {
        if (Result<void> done = measure_data(*store, record->id, facts); !done) return done.error();
      }
    }
    const auto pace = index.seconds_of_round(run.experiment);
    if (rounds_left > 0 && !pace) known = false;
    left += pace.value_or(0) * rounds_left;
  }
  if (known) results.seconds_left = left;
  return results;
}

Result<RoundMeans> round_means(const sim::Store& store, const std::vector<std::int64_t>& runs) {
  RoundMeans means;
  for (const std::int64_t run : runs) {
    const auto rounds = store.rounds(run);
    if (!rounds) return rounds.error();
    for (const sim::RoundRecord& round : *rounds) {
      add(1000 * round.aggregate_seconds, means.milliseconds);
      if (round.fits) add(*round.fits, means.fits);
    }
  }
  divide(means.milliseconds);
  divide(means.fits);
  return means;
}

std::map<std::string, std::vector<std::int64_t>> runs_of(const PaperResults& results,
                                                         std::string_view rule) {
  std::map<std::string, std::vector<std::int64_t>> ids;
  for (const auto& entry : results.cells) {
    if (entry.first.rule != rule) continue;
    auto& list = ids[entry.first.dataset];
    list.insert(list.end(), entry.second.ids.begin(), entry.second.ids.end());
  }
  return ids;
}

}  // namespace boba::reproduction
