#include "tests/support/report_samples.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "boba/core/random.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

// How a rule fares under an attack, invented after the paper's tables.
struct Fate {
  double accuracy = 0.85;
  double drop = 0.02;
  double byzantine_in = 0;  // share of the attackers accepted
  double honest_out = 0;    // share of the honest clients rejected
};

Fate fate_of(const std::string& rule, const std::string& attack) {
  const bool quiet = attack == "none";
  if (rule.starts_with("average")) {
    const bool mild = quiet || attack.starts_with("mimic") || attack.starts_with("lie");
    return {mild ? 0.85 : 0.1, quiet ? 0.0 : mild ? 0.12 : 0.9, 1, 0};
  }
  if (rule.starts_with("mkrum")) {
    return {quiet ? 0.8 : 0.62, quiet ? 0.3 : 0.7, attack.starts_with("lie") ? 0.9 : 0.1, 0.2};
  }
  return {quiet ? 0.845 : 0.835, 0.015, attack.starts_with("ipm") ? 0.3 : 0, 0.03};
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : key_{seed, 0, 0, Purpose::kSynthetic} {}
  double operator()() { return uniform_at(key_, next_++); }

 private:
  StreamKey key_;
  std::uint64_t next_ = 0;
};

std::vector<ClientRecord> clients_of(const SampleGrid& grid, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<ClientRecord> clients;
  const std::size_t classes = grid.classes.size();
  for (int i = 0; i < grid.honest + grid.byzantine; ++i) {
    ClientRecord client;
    client.client = i;
    client.honest = i < grid.honest;
    client.labels.assign(classes, 0);
    if (client.honest) {
      client.labels[static_cast<std::size_t>(draw() * static_cast<double>(classes))] += 300;
      client.labels[static_cast<std::size_t>(i) % classes] += 300;
    }
    clients.push_back(client);
  }
  return clients;
}

EvaluationRecord evaluation(const SampleGrid& grid, const Fate& fate, int round, Draw& draw) {
  EvaluationRecord record;
  const std::size_t classes = grid.classes.size();
  const double progress = 1 - std::exp(-6.0 * round / grid.rounds);
  record.round = round;
  record.accuracy = std::max(0.05, 0.1 + (fate.accuracy - 0.1) * progress + 0.03 * (draw() - 0.5));
  record.loss = 2.3 - 2 * record.accuracy;
  for (std::size_t z = 0; z < classes; ++z) {
    const double lost = z % 3 == 1 ? fate.drop : 0;
    record.recall.push_back(std::clamp(record.accuracy - lost + 0.1 * (draw() - 0.3), 0.0, 1.0));
    const auto right = static_cast<std::int64_t>(record.recall.back() * 1000);
    const auto spread = static_cast<std::int64_t>(classes) - 1;
    for (std::size_t j = 0; j < classes; ++j) {
      record.confusion.push_back(j == z ? right
                                        : (1000 - right) / std::max<std::int64_t>(1, spread));
    }
  }
  return record;
}

EstimateRecord estimate(const SampleRun& run, int round, Draw& draw) {
  EstimateRecord record;
  record.round = round;
  for (const ClientRecord& client : run.clients) {
    record.clients.push_back(client.client);
    std::vector<double> shares;
    for (std::size_t count : client.labels) {
      const double truth = client.honest ? static_cast<double>(count) / 600 : draw();
      shares.push_back(truth + 0.08 * (draw() - 0.5));
    }
    record.shares.push_back(std::move(shares));
  }
  return record;
}

RoundRecord round_of(const SampleRun& run, const Fate& fate, int round, Draw& draw) {
  RoundRecord record;
  record.round = round;
  record.train_seconds = 0.3 + 0.02 * draw();
  record.attack_seconds = run.header.attack == "none" ? 0 : 0.004 + 0.001 * draw();
  record.aggregate_seconds = run.header.rule.starts_with("average") ? 0.003 : 0.05 + 0.01 * draw();
  record.false_accepts = static_cast<int>(std::lround(fate.byzantine_in * run.header.byzantine));
  record.false_rejects =
      static_cast<int>(fate.honest_out * run.header.honest * (0.5 + draw()) + 0.5 * draw());
  for (int i = 0; i < record.false_rejects; ++i) record.rejected.push_back(i);
  for (int i = record.false_accepts; i < run.header.byzantine; ++i) {
    record.rejected.push_back(run.header.honest + i);
  }
  if (run.header.rule.starts_with("boba")) {
    record.label_error = 0.04 + 0.3 * std::exp(-round / 10.0) + 0.01 * draw();
    record.fits = 3;
  }
  return record;
}

SampleRun sample_run(const SampleGrid& grid, const std::string& rule, const std::string& attack,
                     int seed) {
  SampleRun run;
  const int byzantine = attack == "none" ? 0 : grid.byzantine;
  run.header = {.name = "sample",
                .config = "rule = " + rule + "\nattack = " + attack +
                          "\nseed = " + std::to_string(seed) + "\nfederation.byzantine = " +
                          std::to_string(byzantine) + "\ndata.set = " + grid.dataset +
                          "\ndata.partition = " + grid.partition + "\n" + grid.more_config,
                .data = "0123456789abcdef",
                .baseline = "rule = average\nattack = none\nseed = " + std::to_string(seed) +
                            "\nfederation.byzantine = 0\ndata.set = " + grid.dataset +
                            "\ndata.partition = " + grid.partition + "\n" + grid.more_config,
                .dataset = grid.dataset,
                .partition = grid.partition,
                .model = "mlp(width=200,depth=2)",
                .algorithm = "fedsgd",
                .rule = rule,
                .attack = attack,
                .honest = grid.honest,
                .byzantine = byzantine,
                .seed = static_cast<std::uint64_t>(seed),
                .rounds = grid.rounds,
                .parameters = 199210,
                .classes = grid.classes,
                .version = "0.1.0"};
  run.clients = clients_of(grid, run.header.seed);
  run.clients.resize(static_cast<std::size_t>(grid.honest + byzantine));
  Draw draw(run.header.seed * 1000003 + rule.size() * 101 + attack.size());
  const Fate fate = fate_of(rule, attack);
  for (int round = 1; round <= grid.rounds; ++round) {
    RoundEntry entry;
    entry.round = round_of(run, fate, round, draw);
    if (round % grid.every == 0 || round == grid.rounds) {
      entry.round.evaluate_seconds = 0.1;
      entry.evaluation = evaluation(grid, fate, round, draw);
      if (rule.starts_with("boba")) entry.estimate = estimate(run, round, draw);
    }
    run.entries.push_back(std::move(entry));
  }
  return run;
}

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

void must(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message);
}

// The largest drop of a recall against average without attack, same seed, if that run is there.
std::optional<double> drop_of(const report::RunData& run, const std::vector<report::RunData>& all) {
  for (const report::RunData& other : all) {
    const RunHeader& header = other.record.header;
    if (header.config != run.record.header.baseline) continue;
    double drop = 0;
    for (std::size_t z = 0; z < run.recall.size(); ++z) {
      drop = std::max(drop, other.recall[z] - run.recall[z]);
    }
    return drop;
  }
  return std::nullopt;
}

}  // namespace

std::vector<SampleRun> sample_runs(const SampleGrid& grid) {
  std::vector<SampleRun> runs;
  for (const std::string& rule : grid.rules) {
    for (const std::string& attack : grid.attacks) {
      for (int seed = 1; seed <= grid.seeds; ++seed) {
        runs.push_back(sample_run(grid, rule, attack, seed));
      }
    }
  }
  return runs;
}

void fill_store(Store& store, const std::vector<SampleRun>& runs) {
  for (const SampleRun& run : runs) {
    const std::int64_t id = must(store.add_run(run.header));
    must(store.claim(id, ClaimMode::kNew));
    must(store.write_clients(id, run.clients));
    for (const RoundEntry& entry : run.entries) must(store.write_round(id, entry));
    must(store.finish(id, ""));
  }
}

std::vector<report::RunData> run_data(const std::vector<SampleRun>& runs) {
  std::vector<report::RunData> all;
  for (const SampleRun& run : runs) {
    report::RunData data;
    std::vector<RoundRecord> rounds;
    std::vector<EvaluationRecord> evaluations;
    for (const RoundEntry& entry : run.entries) {
      rounds.push_back(entry.round);
      data.record.seconds += entry.round.train_seconds + entry.round.aggregate_seconds;
      if (entry.evaluation) evaluations.push_back(*entry.evaluation);
      if (entry.estimate) data.estimate = entry.estimate;
    }
    data.record.id = static_cast<std::int64_t>(all.size()) + 1;
    data.record.header = run.header;
    data.record.status = RunStatus::kFinished;
    data.record.rounds_done = run.header.rounds;
    data.record.created = "2026-03-0" + std::to_string(1 + all.size() % 3) + "T12:00:00Z";
    data.record.accuracy = evaluations.back().accuracy;
    data.curve = report::reduce_curve(run.header, evaluations);
    data.rounds = report::reduce_rounds(run.header, rounds);
    data.phases = report::mean_phases(rounds);
    data.recall = evaluations.back().recall;
    data.confusion = evaluations.back().confusion;
    data.clients = run.clients;
    all.push_back(std::move(data));
  }
  for (report::RunData& data : all) data.record.mrd = drop_of(data, all);
  return all;
}

SampleGrid large_grid() {
  SampleGrid grid;
  grid.attacks = {"none",   "ipm(gamma=10)", "lie", "gauss(on=parameters)", "mimic(victim=0)",
                  "minmax", "minsum"};
  grid.seeds = 3;
  grid.rounds = 200;
  grid.every = 10;
  grid.honest = 100;
  grid.byzantine = 15;
  grid.classes = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                  "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  grid.more_config = "federation.participation = 1\ntraining.rounds = 200\n";
  return grid;
}

}  // namespace boba::test
