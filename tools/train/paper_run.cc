// boba paper run: runs and measures experiments of the paper into a database.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "boba/dist/communicator.h"
#include "boba/text/printable.h"
#include "reproduction/measure/measure.h"
#include "simulator/data/catalogue.h"
#include "tools/sim/paper_options.h"
#include "tools/train/accuracy_table.h"
#include "tools/train/run_options.h"

namespace boba::tools {
namespace {

struct PaperRunOptions : RunOptions {
  PaperChoice choice;
};

// The outcome of one experiment.
struct Ended {
  bool stopped = false;
  std::size_t failed = 0;
};

void introduce(const reproduction::PaperFile& file, std::size_t runs, const char* noun) {
  fmt::print("{} ({}): {} {}{}\n", printable(file.title),
             printable(file.what.empty() ? file.name : file.what), runs, noun,
             runs == 1 ? "" : "s");
  std::fflush(stdout);
}

// A table for each data set.
void print_accuracies(const std::vector<sim::RunRecord>& runs) {
  std::vector<std::string> datasets;
  for (const sim::RunRecord& run : runs) {
    if (std::find(datasets.begin(), datasets.end(), run.header.dataset) == datasets.end()) {
      datasets.push_back(run.header.dataset);
    }
  }
  for (const std::string& dataset : datasets) {
    std::vector<sim::RunRecord> own;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(own),
                 [&](const sim::RunRecord& run) { return run.header.dataset == dataset; });
    fmt::print("Accuracy in percent, {}:\n{}\n", dataset, to_text(accuracy_table(own)));
  }
}

Result<Ended> run_runs(const reproduction::PaperFile& file, const reproduction::PaperOptions& paper,
                       sim::Store& store, const PaperRunOptions& options) {
  const auto expanded = reproduction::expand(file, paper);
  if (!expanded) return expanded.error();
  introduce(file, expanded->runs.size(), "run");
  if (expanded->runs.empty()) return Ended();
  const auto outcome = run_with_progress(reproduction::grid_of(file, expanded->runs), store,
                                         options, *make_self_communicator());
  if (!outcome) return outcome.error();
  print_accuracies(outcome->runs);
  for (const std::string& complaint : outcome->complaints) complain(complaint);
  return Ended{outcome->stopped, outcome->complaints.size()};
}

Result<Ended> run_measured(const reproduction::PaperFile& file,
                           const reproduction::PaperOptions& paper, sim::Store& store,
                           const PaperRunOptions& options) {
  sim::DatasetCache data(sim::default_sources(options.data));
  bool introduced = false;
  const auto outcome = reproduction::run_measurements(
      file,
      {.paper = paper,
       .device = options.device,
       .threads = options.threads,
       .again = options.again},
      data, store, [&](std::size_t number, std::size_t all, const std::string& what) {
        if (options.quiet) return;
        if (!introduced) introduce(file, all, "measurement");
        introduced = true;
        complain(fmt::format("{:>4} of {}  {}", number, all, what));
      });
  if (!outcome) return outcome.error();
  fmt::print("{}: {} measured, {} were there\n\n", printable(file.title), outcome->done,
             outcome->before);
  return Ended();
}

Outcome run(const PaperRunOptions& options) {
  if (options.choice.names.empty()) {
    return usage("give the name of an experiment; 'boba paper list' shows them");
  }
  const auto files = papers_of(options.choice);
  if (!files) return usage(files.error().message);
  PaperChoice choice = options.choice;
  choice.settings = options.settings;
  const auto paper = paper_options(choice);
  if (!paper) return usage(paper.error().message);
  for (const reproduction::PaperFile& file : *files) {
    const auto sound = reproduction::expand(file, *paper);
    if (!sound) return usage(sound.error().message);
  }
  auto store = sim::Store::open(options.db, sim::OpenMode::kCreate);
  if (!store) return failed(store.error());
  std::size_t unfinished = 0;
  for (const reproduction::PaperFile& file : *files) {
    const auto ended = reproduction::is_runs(file.kind)
                           ? run_runs(file, *paper, *store, options)
                           : run_measured(file, *paper, *store, options);
    if (!ended) return failed(ended.error());
    if (ended->stopped) {
      return Failure{kFailed, "stopped; run the same command again to continue"};
    }
    unfinished += ended->failed;
  }
  fmt::print("'boba paper report --db {}{}\n", printable(options.db),
             options.choice.quick ? " --quick' draws them" : "' compares with what was published");
  if (unfinished > 0) {
    return Failure{kFailed, fmt::format("{} of the runs did not finish", unfinished)};
  }
  return {};
}

}  // namespace

void add_paper_run(CLI::App& paper, Outcome& outcome) {
  auto options = std::make_shared<PaperRunOptions>();
  options->db = kPaperDatabase;
  options->resume = true;
  CLI::App* command = paper.add_subcommand("run", kPaperRunSummary);
  add_paper_choice(*command, options->choice);
  command->add_option("--db", options->db, "results database; created if missing")
      ->type_name("FILE")
      ->capture_default_str();
  add_run_options(*command, *options);
  command->add_flag("--again", options->again, "repeat finished runs");
  command->footer(
      "Finished runs are not repeated; unfinished ones continue. Ctrl-C stops after the round and\n"
      "discards a measurement in progress. --quick runs small versions, with fewer examples and\n"
      "rounds; they go into the same database and never mix with the others.\n"
      "\n"
      "Examples:\n"
      "  boba paper run robustness --quick\n"
      "  boba paper run unbiasedness robustness --grid mnist --seeds 5 --device cuda\n"
      "  boba paper run pca picture time");
  command->callback([options, &outcome] { outcome = run(*options); });
}

}  // namespace boba::tools
