// boba aggregate: one round from files, its aggregate and its verdict.

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "boba/core/sketch.h"
#include "boba/kernels/sketch/sketch.h"
#include "boba/rules/registry.h"
#include "tools/command.h"
#include "tools/json.h"
#include "tools/npy.h"
#include "tools/summary.h"

namespace boba::tools {
namespace {

struct Options {
  std::string rule;
  std::string updates;
  std::string server;
  std::vector<double> server_counts;
  std::string out;
  std::string report;
  std::uint64_t seed = 0;
  std::string gram = "exact";
  int threads = 0;
};

struct Run {
  Verdict verdict;
  std::string kernels;
  double seconds = 0;
};

Outcome write_results(const Options& options, const Run& run, const UpdateView& aggregate) {
  std::optional<OutputFile> out;
  std::optional<OutputFile> report;
  if (!options.out.empty()) {
    Result<OutputFile> file = OutputFile::create(options.out);
    if (!file) return failed(file.error());
    out.emplace(*std::move(file));
    if (Result<void> written = write_npy(*out, aggregate); !written) return failed(written.error());
  }
  if (!options.report.empty()) {
    Result<OutputFile> file = OutputFile::create(options.report);
    if (!file) return failed(file.error());
    report.emplace(*std::move(file));
    Json json = to_json(run.verdict);
    json["seconds"] = json_number(run.seconds);
    json["kernels"] = run.kernels;
    if (Result<void> written = report->write(print_report(json)); !written) {
      return failed(written.error());
    }
  }
  // Both are complete before either appears.
  for (std::optional<OutputFile>* file : {&out, &report}) {
    if (!file->has_value()) continue;
    if (Result<void> done = (*file)->commit(); !done) return failed(done.error());
  }
  fmt::print("{} in {:.1f} ms; wrote", headline(run.verdict), 1e3 * run.seconds);
  if (out) fmt::print(" {}", options.out);
  if (out && report) fmt::print(" and");
  if (report) fmt::print(" {}", options.report);
  fmt::print("\n");
  for (const std::string& warning : run.verdict.warnings) fmt::print("warning: {}\n", warning);
  return {};
}

void print_summary(const Run& run, const Round& round) {
  fmt::print("{} in {:.1f} ms\n", headline(run.verdict), 1e3 * run.seconds);
  fmt::print("updates {}", describe_shape(round.updates));
  if (!round.server.empty()) fmt::print("; server {}", describe_shape(round.server));
  fmt::print("; {}\n{}\n{}", run.kernels, round_text(run.verdict),
             clients_text(run.verdict.clients));
}

// However they are spelt.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(a, ignored) ==
         std::filesystem::weakly_canonical(b, ignored);
}

Outcome run_aggregate(const Options& options) {
  if (!options.out.empty() && !options.report.empty() && same_file(options.out, options.report)) {
    return usage("--out and --report name the same file");
  }
  Result<Aggregator> rule = make_aggregator(options.rule);
  if (!rule) return usage(rule.error().message);
  const Result<std::optional<SketchOptions>> gram = parse_gram(options.gram);
  if (!gram) return usage(gram.error().message);
  for (const std::string& path : {options.out, options.report}) {
    if (path.empty()) continue;
    if (Result<void> writable = check_writable(path); !writable) return failed(writable.error());
  }
  Result<NpyFile> updates = NpyFile::open(options.updates);
  if (!updates) return failed(updates.error());
  Round round;
  round.updates = updates->view();
  round.seed = options.seed;
  std::optional<NpyFile> server;
  if (!options.server.empty()) {
    Result<NpyFile> file = NpyFile::open(options.server);
    if (!file) return failed(file.error());
    server.emplace(*std::move(file));
    round.server = server->view();
    round.server_counts = options.server_counts;
  }
  const std::unique_ptr<const Kernels> plain = make_kernels(options.threads);
  std::unique_ptr<const Kernels> sketched;
  if (*gram) {
    const Result<std::uint64_t> seed = fresh_seed();
    if (!seed) return failed(seed.error());
    auto made = make_sketch_kernels(*plain, sketch_plan(**gram, *seed, round.number));
    if (!made) return failed(made.error());
    sketched = *std::move(made);
  }
  const Kernels* kernels = sketched ? sketched.get() : plain.get();
  UpdateMatrix out(round.updates.dtype(), 1, round.updates.length());
  const auto begin = std::chrono::steady_clock::now();
  Result<Verdict> verdict = rule->aggregate(*kernels, round, out.row(0));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (!verdict) return failed(verdict.error());
  const Run run{*std::move(verdict), kernels->name(), seconds.count()};
  if (!options.out.empty() || !options.report.empty()) {
    return write_results(options, run, out.view());
  }
  print_summary(run, round);
  return {};
}

}  // namespace

void add_aggregate(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "aggregate", "combine a round, and say what was decided about each client");
  command->add_option("--rule", options->rule, "the rule and its stages; see 'boba rules'")
      ->required()
      ->type_name("SPEC");
  command
      ->add_option("--updates", options->updates,
                   "n x d array, a client's update per row; float32 or float64")
      ->required()
      ->type_name("U.npy");
  CLI::Option* server = command
                            ->add_option("--server", options->server,
                                         "c x d array, the server's gradient of each class per row")
                            ->type_name("S.npy");
  command
      ->add_option("--server-counts", options->server_counts,
                   "samples behind each server row, for fltrust, as 20,20,10; default: equal")
      ->delimiter(',')
      ->needs(server)
      ->type_name("LIST");
  command->add_option("--out", options->out, "write the aggregate, 1 x d")->type_name("A.npy");
  command->add_option("--report", options->report, "write the verdict as JSON")
      ->type_name("R.json");
  command->add_option("--seed", options->seed, "of the random stages")
      ->check(whole_number(0, UINT64_MAX))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--gram", options->gram,
                   "inner products of the updates: exact, or of sketches, as "
                   "'sketch(length=4096)'; their seed is fresh from the system")
      ->type_name("SPEC")
      ->capture_default_str();
  add_threads_option(*command, options->threads);
  command->footer(
      "Without --out and --report the verdict is printed for reading. Files are mapped, not\n"
      "loaded: they may be larger than memory. The result does not depend on --threads.\n"
      "\n"
      "Examples:\n"
      "  boba aggregate --rule 'mkrum(f=2)' --updates updates.npy\n"
      "  boba aggregate --rule 'boba(f=2)' --updates updates.npy --server server.npy \\\n"
      "                 --out aggregate.npy --report report.json\n"
      "  boba aggregate --rule 'coomed | server-mix(lambda=0.25)' --updates updates.npy \\\n"
      "                 --server server.npy\n"
      "  boba aggregate --rule fltrust --updates updates.npy --server server.npy \\\n"
      "                 --server-counts 20,20,10");
  command->callback([options, &outcome] { outcome = run_aggregate(*options); });
}

}  // namespace boba::tools
