// Training against a bare loop of the same forward and backward passes, in one run, turn by turn;
// and a whole experiment against its gradients alone.
//
//   boba_bench_training [mlp] [cnn] [gru] [experiment] [--threads N] [--rounds N]

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/bare_loop.h"
#include "boba/core/random.h"
#include "boba/core/views.h"
#include "simulator/data/dataset.h"
#include "simulator/experiment/resolved.h"
#include "simulator/store/store.h"
#include "simulator/train/plan.h"
#include "simulator/train/simulation.h"
#include "simulator/train/trainer.h"

namespace boba::bench {
using namespace sim;  // NOLINT
namespace {

struct Settings {
  std::vector<std::string> cases;
  int threads = 2;
  int rounds = 5;
};

// A pattern for each class under noise, in the shape of a data set, with its classes in turn.
Dataset noise(const LoopShape& shape) {
  Dataset data;
  data.name = "noise";
  const bool text = shape.model == "gru";
  const std::size_t classes = text ? 4 : 10;
  const std::size_t rows = shape.clients * shape.examples;
  for (std::size_t z = 0; z < classes; ++z) data.classes.push_back(std::to_string(z));
  const StreamKey key{.seed = 1, .purpose = Purpose::kBench};
  const auto fill = [&](Examples& examples, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      examples.labels.push_back(static_cast<std::uint8_t>(i % classes));
    }
    if (text) {
      for (std::size_t i = 0; i < count * data.length; ++i) {
        examples.words.push_back(static_cast<std::int32_t>(2 + random_block(key, i)[0] % 29998));
      }
      return;
    }
    const StreamKey patterns{.seed = 2, .purpose = Purpose::kBench};
    const std::size_t size = data.image.size();
    std::vector<std::uint32_t> pattern;
    for (std::size_t i = 0; i < classes * size; ++i) {
      pattern.push_back(random_block(patterns, i)[0] % 128);
    }
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < size; ++k) {
        const std::uint32_t drawn = random_block(key, (i * size + k) / 4)[k % 4] % 128;
        examples.pixels.push_back(
            static_cast<std::uint8_t>(pattern[(i % classes) * size + k] + drawn));
      }
    }
  };
  if (text) {
    data.kind = DataKind::kText;
    data.length = 48;
    data.vector_length = 100;
    for (std::size_t i = 0; i < 30000 * data.vector_length; ++i) {
      data.vectors.push_back(static_cast<float>(uniform_at(key, i) - 0.5));
    }
  } else {
    data.image = shape.model == "cnn" ? ImageShape{3, 32, 32} : ImageShape{1, 28, 28};
    data.mean.assign(data.image.channels, 0.5);
    data.deviation.assign(data.image.channels, 0.25);
  }
  fill(data.train, rows);
  fill(data.test, 10000);
  return data;
}

Experiment experiment_of(const LoopShape& shape) {
  Experiment e;
  e.data.partition = "iid";
  e.model.kind = shape.model;
  e.federation.honest = static_cast<int>(shape.clients);
  return e;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int fail(const Error& error) {
  fmt::print(stderr, "boba_bench_training: {}\n", error.message);
  return EXIT_FAILURE;
}

int compare_training(const LoopShape& shape, const Settings& settings) {
  const Dataset data = noise(shape);
  const auto e = resolve(experiment_of(shape));
  if (!e) return fail(e.error());
  const auto plan = make_plan(*e, data);
  if (!plan) return fail(plan.error());
  auto trainer = make_trainer(*e, data, *plan, settings.threads);
  if (!trainer) return fail(trainer.error());
  const auto loop = make_bare_loop(shape, settings.threads);
  const std::vector<float> w = (*trainer)->initial();
  UpdateMatrix rows(DType::kFloat32, shape.clients, w.size());
  std::vector<TrainingTask> tasks;
  for (std::size_t i = 0; i < shape.clients; ++i) {
    tasks.push_back({Learner::kHonest, i, rows.row_as<float>(i)});
  }
  std::vector<double> bare;
  std::vector<double> ours;
  for (int k = 0; k < settings.rounds + 1; ++k) {
    const double loop_seconds = loop->round();
    const auto start = std::chrono::steady_clock::now();
    const Result<void> done = (*trainer)->train(w, k + 1, 0.1, tasks);
    if (!done) return fail(done.error());
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (k == 0) continue;  // warms up
    bare.push_back(loop_seconds);
    ours.push_back(seconds);
  }
  fmt::print("{:<11} {:>4} x {:<4} {:>9.3f} {:>9.3f} {:>7.3f}\n", shape.model, shape.clients,
             shape.examples, median(bare), median(ours), median(ours) / median(bare));
  std::fflush(stdout);
  return EXIT_SUCCESS;
}

// The MNIST experiment of the paper, everything included, against its gradients alone.
int compare_experiment(const std::string& rule, const Settings& settings) {
  const LoopShape shape{.model = "mlp", .clients = 100, .examples = 600};
  const Dataset data = noise(shape);
  Experiment e = experiment_of(shape);
  e.data.partition = "pairs";
  e.rule = rule;
  e.attack = "ipm";
  e.training.rounds = 10 * settings.rounds;
  const auto folder =
      std::filesystem::temp_directory_path() /
      fmt::format("boba-bench-{}", std::chrono::steady_clock::now().time_since_epoch().count());
  std::filesystem::create_directories(folder);
  const auto loop = make_bare_loop(shape, settings.threads);
  loop->round();
  double bare = 0;
  for (int k = 0; k < settings.rounds; ++k) bare += loop->round();
  const auto start = std::chrono::steady_clock::now();
  const auto resolved = resolve(e);
  if (!resolved) return fail(resolved.error());
  auto made = make_simulation(*resolved, data, {.threads = settings.threads}, "bench");
  if (!made) return fail(made.error());
  auto store = Store::open(folder / "bench.db", OpenMode::kCreate);
  if (!store) return fail(store.error());
  const auto run = store->add_run((*made)->header());
  if (!run) return fail(run.error());
  if (const auto claim = store->claim(*run, ClaimMode::kNew); !claim) return fail(claim.error());
  if (const auto wrote = store->write_clients(*run, (*made)->clients()); !wrote) {
    return fail(wrote.error());
  }
  RoundRecord sum;
  while (!(*made)->done()) {
    const auto entry = (*made)->step();
    if (!entry) return fail(entry.error());
    if (const auto wrote = store->write_round(*run, *entry); !wrote) return fail(wrote.error());
    sum.train_seconds += entry->round.train_seconds;
    sum.attack_seconds += entry->round.attack_seconds;
    sum.aggregate_seconds += entry->round.aggregate_seconds;
    sum.evaluate_seconds += entry->round.evaluate_seconds;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (int k = 0; k < settings.rounds; ++k) bare += loop->round();
  bare *= static_cast<double>(e.training.rounds) / (2 * settings.rounds);
  std::filesystem::remove_all(folder);
  const double rest = seconds - sum.train_seconds - sum.attack_seconds - sum.aggregate_seconds -
                      sum.evaluate_seconds;
  fmt::print(
      "{:<11} {:>4} x {:<4} {:>9.3f} {:>9.3f} {:>7.3f}   {} rounds: training {:.3f}, attack "
      "{:.3f}, rule {:.3f}, evaluation {:.3f}, rest {:.3f}\n",
      rule, shape.clients, shape.examples, bare, seconds, seconds / bare, e.training.rounds,
      sum.train_seconds, sum.attack_seconds, sum.aggregate_seconds, sum.evaluate_seconds, rest);
  return EXIT_SUCCESS;
}

int run(const Settings& settings) {
  fmt::print("{:<11} {:>11} {:>9} {:>9} {:>7}   {} threads, seconds\n", "case", "clients",
             "bare loop", "boba", "ratio", settings.threads);
  for (const std::string& name : settings.cases) {
    int status = EXIT_SUCCESS;
    if (name == "mlp") status = compare_training({"mlp", 100, 600}, settings);
    if (name == "cnn") status = compare_training({"cnn", 20, 500}, settings);
    if (name == "gru") status = compare_training({"gru", 40, 750}, settings);
    if (name == "experiment") {
      for (const char* rule : {"average", "mkrum(f=16)", "boba(f=16)"}) {
        status = std::max(status, compare_experiment(rule, settings));
      }
    }
    if (status != EXIT_SUCCESS) return status;
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace boba::bench

int main(int argc, char** argv) {
  boba::bench::Settings settings;
  CLI::App app("Training against a bare loop of the same passes");
  app.add_option("cases", settings.cases, "what to measure; default: all")
      ->check(CLI::IsMember({"mlp", "cnn", "gru", "experiment"}));
  app.add_option("--threads", settings.threads)->check(CLI::PositiveNumber);
  app.add_option("--rounds", settings.rounds)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  if (settings.cases.empty()) settings.cases = {"mlp", "cnn", "gru", "experiment"};
  return boba::bench::run(settings);
}
