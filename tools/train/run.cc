// boba run: the runs of an experiment file, with their results in a database.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "boba/dist/launch.h"
#include "boba/text/printable.h"
#include "boba/text/table.h"
#include "simulator/experiment/grid.h"
#include "simulator/store/store.h"
#include "tools/command.h"
#include "tools/train/accuracy_table.h"
#include "tools/train/run_options.h"
#include "tools/train/shared_store.h"

namespace boba::tools {
namespace {

struct RunCommand : RunOptions {
  std::string experiment;
  bool dry_run = false;
};

// "1 run", "6 runs".
std::string runs_text(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "run" : "runs");
}

// "quickstart       Fashion-MNIST, ..." for the help.
std::string shipped_list() {
  constexpr std::size_t kIndent = 18;
  std::string text;
  for (const sim::ShippedExperiment& shipped : sim::shipped_experiments()) {
    const std::string lines = wrap(shipped.summary, 100, kIndent);
    text += fmt::format("  {:<{}}", shipped.name, kIndent - 2) + lines.substr(kIndent);
  }
  return text;
}

Outcome show_grid(const sim::Grid& grid) {
  Table table({{"", Align::kRight},
               {"data"},
               {"partition"},
               {"model"},
               {"rule"},
               {"attack"},
               {"byzantine", Align::kRight},
               {"seed", Align::kRight},
               {"rounds", Align::kRight}});
  std::size_t number = 0;
  long rounds = 0;
  for (const sim::Experiment& e : grid.experiments) {
    table.add({std::to_string(++number), e.data.set, e.data.partition, e.model.kind, e.rule,
               e.attack, std::to_string(e.federation.byzantine), std::to_string(e.seed),
               std::to_string(e.training.rounds)});
    rounds += e.training.rounds;
  }
  fmt::print("{}", table.text());
  fmt::print("{}: {}, {} rounds in all; nothing was run\n", printable(grid.name),
             runs_text(grid.experiments.size()), rounds);
  return {};
}

Outcome report_outcome(const GridOutcome& outcome, const std::string& db, bool speaks) {
  std::size_t finished = 0;
  for (const sim::RunRecord& run : outcome.runs)
    finished += run.status == sim::RunStatus::kFinished ? 1 : 0;
  if (finished > 0 && speaks) {
    fmt::print("Accuracy in percent:\n{}", to_text(accuracy_table(outcome.runs)));
    fmt::print("{} in {}; 'boba report --db {}' draws them\n", runs_text(outcome.runs.size()),
               printable(db), printable(db));
  }
  for (const std::string& complaint : outcome.complaints) {
    if (speaks) complain(complaint);
  }
  if (outcome.stopped) return Failure{kFailed, "stopped; --resume continues where it was"};
  if (!outcome.complaints.empty()) {
    return Failure{kFailed,
                   fmt::format("{} of the runs did not finish", outcome.complaints.size())};
  }
  return {};
}

// The settings that must be equal on all ranks.
std::string settings_text(const sim::Grid& grid, const RunCommand& options) {
  std::string text =
      fmt::format("{} {} {} {}\n", BOBA_VERSION, options.device, options.resume, options.again);
  for (const sim::ResolvedExperiment& experiment : grid.experiments)
    text += sim::canonical_text(experiment) + "\n";
  return text;
}

Result<sim::Grid> load(const RunCommand& options) {
  const auto overrides = overrides_of(options.settings);
  if (!overrides) return overrides.error();
  return sim::load_grid(options.experiment, *overrides);
}

// On all ranks, or on none.
Result<sim::Grid> load_on(const Communicator& ranks, const RunCommand& options) {
  auto grid = load(options);
  const Result<void> mine = grid ? Result<void>() : Result<void>(grid.error());
  if (const Result<void> all = agree(ranks, mine); !all) return all.error();
  if (all_same(ranks, settings_text(*grid, options))) return grid;
  return invalid_argument(fmt::format(
      "the ranks differ in the experiment {}, in the options or in the version of boba; "
      "rank 0 has {} and is version {}",
      options.experiment, runs_text(grid->experiments.size()), BOBA_VERSION));
}

Outcome run_on(const Communicator& ranks, const RunCommand& options) {
  const auto grid = load_on(ranks, options);
  if (!grid) return usage(grid.error().message);
  const bool spread = ranks.size() > 1 && grid->experiments.size() == 1;
  if (spread && options.device != "cpu") {
    return failed(invalid_argument(
        fmt::format("one run is spread over {} processes on processors only; --device is {}",
                    ranks.size(), options.device)));
  }
  auto store = spread ? open_first_store(ranks, options.db) : open_shared_store(ranks, options.db);
  if (!store) return failed(store.error());
  const auto outcome = *store ? run_with_progress(*grid, **store, options, ranks)
                              : follow_with_progress(*grid, options, ranks);
  if (!outcome) return failed(outcome.error());
  return report_outcome(*outcome, options.db, ranks.rank() == 0);
}

Outcome run(const RunCommand& options) {
  if (options.dry_run && launched().rank != 0) return {};
  if (options.dry_run) {
    const auto grid = load(options);
    if (!grid) return usage(grid.error().message);
    return show_grid(*grid);
  }
  if (const std::string warning = launch_warning(); !warning.empty()) {
    complain("warning: " + warning);
  }
  const auto ranks = join();
  if (!ranks) return failed(ranks.error());
  std::string why;
  try {
    return report_on_rank0("run", (*ranks)->rank() == 0, run_on(**ranks, options));
  } catch (const std::exception& error) {
    if ((*ranks)->size() == 1) throw;
    why = error.what();
  }
  // The other ranks would wait forever.
  (*ranks)->abort(why);
  return Failure{kFailed, why};  // not reached; g++ 12 does not see that
}

}  // namespace

void add_run(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<RunCommand>();
  CLI::App* command = app.add_subcommand("run", kRunSummary);
  command->add_option("experiment", options->experiment, "a file, or the name of one below")
      ->required()
      ->type_name("FILE|NAME");
  command->add_option("--db", options->db, "results database; created if missing")
      ->type_name("FILE")
      ->capture_default_str();
  add_run_options(*command, *options);
  CLI::Option* resume = command->add_flag("--resume", options->resume, "continue unfinished runs");
  command->add_flag("--again", options->again, "start every run again, finished runs too")
      ->excludes(resume);
  command->add_flag("--dry-run", options->dry_run, "show the runs, run none");
  command->footer(
      "A list in the file is an axis: every combination is a run. Finished runs stay in the\n"
      "database and are not repeated. Ctrl-C stops after the round; a killed run loses at most "
      "one\n"
      "round. The same experiment, seed and data give the same numbers for any --jobs and\n"
      "--threads. mpirun spreads the runs over the processes, or the clients of a single run; the\n"
      "numbers stay the same.\n"
      "\n"
      "Experiments that come with boba:\n" +
      shipped_list() +
      "\n"
      "Examples:\n"
      "  boba run quickstart\n"
      "  boba run mnist --set rule='boba(f=16)' --set attack=ipm --set seed=[1,2,3] --jobs 2\n"
      "  boba run my.toml --db my.db --dry-run\n"
      "  boba run my.toml --db my.db --resume\n"
      "  mpirun -n 4 boba run my.toml --db my.db");
  command->callback([options, &outcome] { outcome = run(*options); });
}

}  // namespace boba::tools
