// boba aggregate: one round from files, its aggregate and its verdict.

#include "tools/aggregate.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "boba/core/verdict_text.h"
#include "boba/dist/launch.h"
#include "boba/kernels/sketch/sketch.h"
#include "boba/rules/registry.h"
#include "boba/text/printable.h"
#include "tools/json.h"

namespace boba::tools {
namespace {

Outcome write_results(const AggregateOptions& options, const AggregateRun& run,
                      const UpdateView& aggregate, const std::optional<Memory>& memory) {
  std::optional<OutputFile> out;
  if (!options.out.empty()) {
    Result<OutputFile> file = OutputFile::create(options.out);
    if (!file) return failed(file.error());
    out.emplace(*std::move(file));
    if (Result<void> written = write_npy(*out, aggregate); !written) return failed(written.error());
  }
  Result<std::optional<OutputFile>> report = make_report(options, run);
  if (!report) return failed(report.error());
  Result<std::optional<OutputFile>> remembered = make_memory(options, memory);
  if (!remembered) return failed(remembered.error());
  // All are complete before one appears.
  for (std::optional<OutputFile>* file : {&out, &*report, &*remembered}) {
    if (!file->has_value()) continue;
    if (Result<void> done = (*file)->commit(); !done) return failed(done.error());
  }
  return {};
}

// Whether two paths, in any spelling, name one file.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(a, ignored) ==
         std::filesystem::weakly_canonical(b, ignored);
}

Outcome aggregate_alone(const AggregateOptions& options, const Aggregator& rule) {
  for (const std::string& path : {options.out, options.report, options.memory}) {
    if (path.empty()) continue;
    if (Result<void> writable = check_writable(path); !writable) return failed(writable.error());
  }
  const Result<RoundFiles> files = RoundFiles::open(options);
  if (!files) return failed(files.error());
  const Round round = files->round();
  Result<std::optional<Memory>> memory = read_memory(options, rule);
  if (!memory) return failed(memory.error());
  const std::unique_ptr<const Kernels> plain = make_kernels(options.threads);
  const Result<std::uint64_t> seed = plain->secret_seed();
  if (!seed) return failed(seed.error());
  const auto sketched = sketch_kernels(options, *plain, *seed);
  if (!sketched) return failed(sketched.error());
  const Kernels* kernels = *sketched ? sketched->get() : plain.get();
  UpdateMatrix out(round.updates.dtype(), 1, round.updates.length());
  const auto begin = std::chrono::steady_clock::now();
  Result<Verdict> verdict =
      rule.aggregate(*kernels, round, out.row(0), *memory ? &**memory : nullptr);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (Result<void> same = files->unchanged(); !same) return failed(same.error());
  if (!verdict) return failed(verdict.error());
  const AggregateRun run{*std::move(verdict), kernels->name(), seconds.count()};
  const Outcome failure = write_results(options, run, out.view(), *memory);
  if (failure) return failure;
  if (options.out.empty() && options.report.empty()) {
    print_summary(run, round);
  } else {
    print_written(options, run);
  }
  return {};
}

Outcome run_aggregate(const AggregateOptions& options) {
  const std::pair<const char*, const std::string&> outputs[] = {
      {"--out", options.out}, {"--report", options.report}, {"--memory", options.memory}};
  for (const auto& [a, first] : outputs) {
    for (const auto& [b, second] : outputs) {
      if (a == b || first.empty() || second.empty() || !same_file(first, second)) continue;
      return usage(fmt::format("{} and {} name the same file", a, b));
    }
  }
  const Result<Aggregator> rule = make_aggregator(options.rule);
  if (!rule) return usage(rule.error().message);
  if (const auto gram = parse_gram(options.gram); !gram) return usage(gram.error().message);
  if (const std::string warning = launch_warning(); !warning.empty()) {
    complain("warning: " + warning);
  }
  if (launched().size == 1) return aggregate_alone(options, *rule);
  const Result<std::unique_ptr<Communicator>> ranks = join();
  if (!ranks) return failed(ranks.error());
  std::string why;
  try {
    return report_on_rank0("aggregate", (*ranks)->rank() == 0,
                           aggregate_on_ranks(options, *rule, **ranks));
  } catch (const std::bad_alloc&) {
    why = "out of memory";
  } catch (const std::length_error&) {
    why = "out of memory";
  } catch (const std::exception& error) {
    why = fmt::format("internal error: {}", error.what());
  }
  // The other ranks would wait forever.
  (*ranks)->abort(why);
  return Failure{kFailed, why};  // not reached; g++ 12 does not see that
}

}  // namespace

Result<RoundFiles> RoundFiles::open(const AggregateOptions& options) {
  Result<NpyFile> updates = NpyFile::open(options.updates);
  if (!updates) return updates.error();
  RoundFiles files(*std::move(updates), options);
  if (!options.server.empty()) {
    Result<NpyFile> server = NpyFile::open(options.server);
    if (!server) return server.error();
    files.server_.emplace(*std::move(server));
  }
  if (!options.ids.empty()) {
    Result<std::vector<std::string>> ids = read_lines(options.ids);
    if (!ids) return ids.error();
    files.ids_ = *std::move(ids);
  }
  return files;
}

Round RoundFiles::round() const {
  Round round;
  round.updates = updates_.view();
  round.ids = ids_;
  round.seed = options_.seed;
  if (server_) {
    round.server = server_->view();
    round.server_counts = options_.server_counts;
  }
  return round;
}

Result<void> RoundFiles::unchanged() const {
  Result<void> same = updates_.unchanged();
  if (same && server_) same = server_->unchanged();
  return same;
}

Result<std::unique_ptr<const Kernels>> sketch_kernels(const AggregateOptions& options,
                                                      const Kernels& plain, std::uint64_t seed) {
  const auto gram = parse_gram(options.gram);
  if (!gram) return gram.error();
  if (!*gram) return std::unique_ptr<const Kernels>();
  return make_sketch_kernels(plain, sketch_plan(**gram, seed, 0));
}

Result<std::optional<Memory>> read_memory(const AggregateOptions& options, const Aggregator& rule) {
  if (options.memory.empty()) return std::optional<Memory>();
  if (!rule.uses_memory()) {
    return invalid_argument(
        fmt::format("{} does not use a memory; leave --memory out", rule.spec()));
  }
  std::error_code ignored;
  if (!std::filesystem::exists(options.memory, ignored)) return std::optional<Memory>(Memory());
  const Result<MappedFile> file = MappedFile::open(options.memory);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  Result<Memory> memory = Memory::load({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!memory) {
    return Error{memory.error().code,
                 fmt::format("{}: {}", options.memory, memory.error().message)};
  }
  return std::optional<Memory>(*std::move(memory));
}

Result<std::optional<OutputFile>> make_memory(const AggregateOptions& options,
                                              const std::optional<Memory>& memory) {
  if (!memory) return std::optional<OutputFile>();
  Result<OutputFile> file = OutputFile::create(options.memory);
  if (!file) return file.error();
  if (Result<void> written = file->write(memory->save()); !written) return written.error();
  return std::optional<OutputFile>(*std::move(file));
}

Result<std::optional<OutputFile>> make_report(const AggregateOptions& options,
                                              const AggregateRun& run) {
  if (options.report.empty()) return std::optional<OutputFile>();
  Result<OutputFile> file = OutputFile::create(options.report);
  if (!file) return file.error();
  Json json = to_json(run.verdict);
  json["seconds"] = json_number(run.seconds);
  json["kernels"] = run.kernels;
  if (Result<void> written = file->write(print_report(json)); !written) return written.error();
  return std::optional<OutputFile>(*std::move(file));
}

void print_written(const AggregateOptions& options, const AggregateRun& run) {
  fmt::print("{} in {:.1f} ms; wrote", headline(run.verdict), 1e3 * run.seconds);
  if (!options.out.empty()) fmt::print(" {}", printable(options.out));
  if (!options.out.empty() && !options.report.empty()) fmt::print(" and");
  if (!options.report.empty()) fmt::print(" {}", printable(options.report));
  fmt::print("\n");
  for (const std::string& warning : run.verdict.warnings)
    fmt::print("warning: {}\n", printable(warning));
}

void print_summary(const AggregateRun& run, const Round& round) {
  std::string shapes = "updates " + describe_shape(round.updates);
  if (!round.server.empty()) shapes += "; server " + describe_shape(round.server);
  fmt::print("{}", verdict_text(run.verdict, fmt::format(" in {:.1f} ms\n{}; {}", 1e3 * run.seconds,
                                                         shapes, run.kernels)));
}

void add_aggregate(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<AggregateOptions>();
  CLI::App* command =
      app.add_subcommand("aggregate", "combine a round and print the decision about each client");
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
                   "number of samples of each server row, for fltrust, such as 20,20,10; default: "
                   "equal numbers")
      ->delimiter(',')
      ->needs(server)
      ->type_name("LIST");
  CLI::Option* ids =
      command->add_option("--ids", options->ids, "text file, the id of a client per line")
          ->type_name("IDS.txt");
  command
      ->add_option("--memory", options->memory,
                   "what the rule remembers of earlier rounds, by client id: read, and written "
                   "with this round added; created if missing")
      ->needs(ids)
      ->type_name("MEMORY");
  command->add_option("--out", options->out, "write the aggregate, 1 x d")->type_name("A.npy");
  command->add_option("--report", options->report, "write the verdict as JSON")
      ->type_name("R.json");
  command
      ->add_option("--seed", options->seed,
                   "seed of the random stages; default: a fresh one from the system, so that no "
                   "client can know the buckets")
      ->check(whole_number(0, UINT64_MAX))
      ->type_name("N");
  command
      ->add_option("--gram", options->gram,
                   "inner products of the updates: exact, or of sketches, such as "
                   "'sketch(length=4096)', with a fresh seed from the system")
      ->type_name("SPEC")
      ->capture_default_str();
  add_threads_option(*command, options->threads);
  command->footer(
      "Without --out and --report the verdict is printed for reading. Files are mapped, not\n"
      "loaded: they may be larger than memory. The result does not depend on --threads.\n"
      "Under mpirun each process holds some of the columns; result and verdict are the same.\n"
      "\n"
      "Examples:\n"
      "  boba aggregate --rule 'mkrum(f=2)' --updates updates.npy\n"
      "  boba aggregate --rule 'boba(f=2)' --updates updates.npy --server server.npy \\\n"
      "                 --out aggregate.npy --report report.json\n"
      "  boba aggregate --rule 'coomed | server-mix(lambda=0.25)' --updates updates.npy \\\n"
      "                 --server server.npy\n"
      "  boba aggregate --rule fltrust --updates updates.npy --server server.npy \\\n"
      "                 --server-counts 20,20,10\n"
      "  boba aggregate --rule 'boba-hull(f=2)' --updates updates.npy --server server.npy \\\n"
      "                 --ids ids.txt --memory clients.mem\n"
      "  mpirun -n 4 boba aggregate --rule 'boba(f=2)' --updates updates.npy \\\n"
      "                 --server server.npy --out aggregate.npy");
  command->callback([options, &outcome] { outcome = run_aggregate(*options); });
}

}  // namespace boba::tools
