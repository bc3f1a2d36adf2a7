// boba_bench_sketch: boba on sketches beside boba on the updates themselves, attack by attack.
//
//   boba_bench_sketch [--n N] [--d D] [--f F] [--length L] [--seeds S] [--exact 0|1]
//
// Updates are those of `boba bench`: mixtures of two of ten classes with noise. With --exact 0 only
// the sketches run, for sizes at which the exact products would take minutes.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "boba/attacks/registry.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/sketch/sketch.h"
#include "boba/rules/registry.h"
#include "tools/synthetic.h"

namespace {

using boba::Aggregator;
using boba::DType;
using boba::Kernels;
using boba::Round;
using boba::RowList;
using boba::UpdateMatrix;
using boba::Verdict;

struct Options {
  std::size_t n = 200;
  std::size_t d = 100000;
  std::size_t f = 20;
  std::size_t length = 4096;
  std::size_t seeds = 3;
  std::size_t exact = 1;
};

double seconds(auto&& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double distance(const UpdateMatrix& a, const UpdateMatrix& b) {
  double sum = 0;
  const float* x = a.view().row<float>(0);
  const float* y = b.view().row<float>(0);
  for (std::size_t k = 0; k < a.length(); ++k) {
    const double difference = static_cast<double>(x[k]) - static_cast<double>(y[k]);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

double norm(const UpdateMatrix& a) { return distance(a, UpdateMatrix(a.dtype(), 1, a.length())); }

std::vector<std::size_t> accepted(const Verdict& verdict) {
  std::vector<std::size_t> rows;
  for (const auto& client : verdict.clients) {
    if (client.accepted) rows.push_back(client.index);
  }
  return rows;
}

Verdict aggregate(const Aggregator& rule, const Kernels& kernels, const Round& round,
                  UpdateMatrix& out) {
  boba::Result<Verdict> verdict = rule.aggregate(kernels, round, out.row(0));
  if (verdict) return *std::move(verdict);
  fmt::print(stderr, "{}\n", verdict.error().message);
  std::exit(1);
}

// The f last rows are the attack's; "none" has honest ones there.
void forge(const Kernels& kernels, std::string_view spec, std::size_t honest,
           UpdateMatrix& updates) {
  if (spec == "none") return;
  const boba::Result<boba::NamedAttack> attack = boba::make_attack(spec);
  RowList rows(updates.dtype(), updates.length());
  for (std::size_t i = 0; i < honest; ++i) rows.add(updates.view(), i);
  std::vector<boba::MutableRow> out;
  for (std::size_t i = honest; i < updates.rows(); ++i) out.push_back(updates.row(i));
  const boba::AttackRound round{.honest = rows.view(), .learning_rate = 0.1, .seed = 1};
  if (!attack || !attack->attack->forge(kernels, round, out)) {
    fmt::print(stderr, "{} could not be run\n", spec);
    std::exit(1);
  }
}

void compare(const Options& options, const Kernels& kernels, std::string_view attack) {
  const std::size_t honest = options.n - options.f;
  boba::tools::SyntheticRound rows = boba::tools::make_synthetic(
      kernels, {.honest = options.n, .byzantine = 0, .classes = 10, .length = options.d});
  forge(kernels, attack, honest, rows.updates);
  Round round;
  round.updates = rows.updates.view();
  round.server = rows.server.view();
  const auto rule = boba::make_aggregator(fmt::format("boba(f={})", options.f));
  const auto plain = boba::make_aggregator("average");
  UpdateMatrix average(DType::kFloat32, 1, options.d);
  UpdateMatrix exact(DType::kFloat32, 1, options.d);
  UpdateMatrix sketched(DType::kFloat32, 1, options.d);
  UpdateMatrix truth(DType::kFloat32, 1, options.d);
  RowList good(DType::kFloat32, options.d);
  for (std::size_t i = 0; i < honest; ++i) good.add(round.updates, i);
  kernels.combine(good.view(), boba::tools::mean_weights(honest), 0, truth.row(0));

  double average_s = seconds([&] { aggregate(*plain, kernels, round, average); });
  std::vector<std::size_t> kept;
  double exact_s = 0;
  if (options.exact != 0) {
    exact_s = seconds([&] { kept = accepted(aggregate(*rule, kernels, round, exact)); });
  }
  double sketch_s = 1e9;
  double worst = 0;
  double worst_truth = 0;
  std::size_t differing = 0;
  std::size_t hostile = 0;
  for (std::size_t seed = 1; seed <= options.seeds; ++seed) {
    const auto with =
        boba::make_sketch_kernels(kernels, {.seed = seed, .round = 0, .length = options.length});
    if (!with) {
      fmt::print(stderr, "{}\n", with.error().message);
      std::exit(1);
    }
    Verdict verdict;
    sketch_s =
        std::min(sketch_s, seconds([&] { verdict = aggregate(*rule, **with, round, sketched); }));
    average_s = std::min(average_s, seconds([&] { aggregate(*plain, kernels, round, average); }));
    const std::vector<std::size_t> chosen = accepted(verdict);
    if (options.exact != 0) {
      worst = std::max(worst, distance(sketched, exact) / norm(exact));
      std::vector<std::size_t> difference;
      std::set_symmetric_difference(kept.begin(), kept.end(), chosen.begin(), chosen.end(),
                                    std::back_inserter(difference));
      differing = std::max(differing, difference.size());
    }
    worst_truth = std::max(worst_truth, distance(sketched, truth) / norm(truth));
    hostile = std::max<std::size_t>(
        hostile, static_cast<std::size_t>(std::count_if(
                     chosen.begin(), chosen.end(), [&](std::size_t i) { return i >= honest; })));
  }
  const auto bad_of = [&](const std::vector<std::size_t>& rows_kept) {
    return std::count_if(rows_kept.begin(), rows_kept.end(),
                         [&](std::size_t i) { return i >= honest; });
  };
  fmt::print(
      "| {:6} | {:7} | {:9} | {:7} | {:10.4f} | {:9.4f} | {:9.4f} | {:8.0f} | {:8.0f} | "
      "{:7.0f} |\n",
      attack, differing, options.exact != 0 ? fmt::format("{}", bad_of(kept)) : "-", hostile, worst,
      options.exact != 0 ? distance(exact, truth) / norm(truth) : 0.0, worst_truth, 1e3 * average_s,
      1e3 * exact_s, 1e3 * sketch_s);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("boba on sketches beside boba on the updates, attack by attack");
  app.add_option("--n", options.n, "clients");
  app.add_option("--d", options.d, "length of an update");
  app.add_option("--f", options.f, "Byzantine clients");
  app.add_option("--length", options.length, "length of a sketch");
  app.add_option("--seeds", options.seeds, "seeds of sketches");
  app.add_option("--exact", options.exact, "0: without the exact products");
  CLI11_PARSE(app, argc, argv);
  const auto kernels = boba::make_cpu_kernels();
  fmt::print("n = {}, d = {}, c = 10, f = {}, sketches of length {}, {} seeds; {}\n", options.n,
             options.d, options.f, options.length, options.seeds, kernels->name());
  fmt::print(
      "| attack | differ  | hostile, exact | sketch | off exact | exact off | sketch off | "
      "average ms | exact ms | sketch ms |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const char* attack : {"none", "gauss", "ipm", "lie", "mimic", "minmax", "minsum"}) {
    compare(options, *kernels, attack);
  }
}
