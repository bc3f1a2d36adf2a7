#include "tests/support/store_samples.h"

#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "boba/core/random.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

template <class T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace

RunHeader sample_header(const std::string& rule, const std::string& attack, std::uint64_t seed) {
  const auto config = [&](const std::string& a_rule, const std::string& an_attack) {
    return "rule = " + a_rule + "\nattack = " + an_attack + "\nseed = " + std::to_string(seed) +
           "\ndata.set = synthetic\n";
  };
  RunHeader header;
  header.name = "sample";
  header.config = config(rule, attack);
  header.data = "5eed";
  header.baseline = config("average", "none");
  header.dataset = "synthetic";
  header.partition = "pairs";
  header.model = "mlp(width=20)";
  header.algorithm = "fedsgd";
  header.rule = rule;
  header.attack = attack;
  header.honest = 4;
  header.byzantine = attack == "none" ? 0 : 1;
  header.seed = seed;
  header.rounds = 20;
  header.parameters = 1234;
  header.classes = {"cat", "dog", "owl"};
  header.version = "0.1.0";
  return header;
}

std::vector<ClientRecord> sample_clients() {
  return {{.client = 0, .honest = true, .labels = {5, 0, 7}, .corruption = ""},
          {.client = 1, .honest = true, .labels = {0, 6, 6}, .corruption = "fog"},
          {.client = 2, .honest = true, .labels = {12, 0, 0}, .corruption = ""},
          {.client = 3, .honest = true, .labels = {4, 4, 4}, .corruption = ""},
          {.client = 4, .honest = false, .labels = {0, 0, 0}, .corruption = ""}};
}

RoundRecord sample_round(int round) {
  RoundRecord record;
  record.round = round;
  record.learning_rate = 0.1;
  record.train_seconds = 1;
  record.attack_seconds = 0.25;
  record.aggregate_seconds = 0.5;
  record.evaluate_seconds = 0.125;
  record.update_norm = 1.0 / 3;
  record.rejected = {4};
  if (round % 2 == 0) record.rejected = {0, 4};
  record.false_rejects = round % 2 == 0 ? 1 : 0;
  record.label_error = 0.1;
  record.fits = 3;
  return record;
}

EvaluationRecord sample_evaluation(int round, const std::vector<double>& recall) {
  EvaluationRecord record;
  record.round = round;
  record.loss = 0.7;
  record.recall = recall;
  record.accuracy =
      std::accumulate(recall.begin(), recall.end(), 0.0) / static_cast<double>(recall.size());
  record.confusion = {8, 1, 1, 2, 7, 1, 0, 0, 10};
  return record;
}

RoundEntry sample_entry(int round, const std::vector<double>& recall) {
  RoundEntry entry;
  entry.round = sample_round(round);
  entry.checkpoint = "state " + std::to_string(round);
  if (recall.empty()) return entry;
  entry.evaluation = sample_evaluation(round, recall);
  entry.estimate = EstimateRecord{
      .round = round, .clients = {0, 3}, .shares = {{0.5, 0, 0.5}, {0.25, 0.5, 0.25}}};
  return entry;
}

std::int64_t add_finished_run(Store& store, const RunHeader& header,
                              const std::vector<double>& recall) {
  const std::int64_t run = need(store.add_run(header));
  if (need(store.claim(run, ClaimMode::kNew)) != ClaimOutcome::kClaimed) {
    throw std::runtime_error("the run is not free");
  }
  need(store.write_clients(run, sample_clients()));
  need(store.write_round(run, sample_entry(header.rounds, recall)));
  need(store.finish(run, "model.safetensors"));
  return run;
}

std::string damaged(std::string bytes, std::uint32_t trial, std::uint64_t hits) {
  const StreamKey key{.seed = 7, .round = trial, .purpose = Purpose::kBench};
  for (std::uint64_t hit = 0; hit < hits; ++hit) {
    const auto words = random_block(key, hit);
    bytes[words[0] % bytes.size()] = static_cast<char>(words[1] & 0xff);
  }
  return bytes;
}

}  // namespace boba::test
