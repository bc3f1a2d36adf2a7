// boba demo: trains a federation with label skew and attackers under four rules; prints a table
// and the best rule, and writes a report. About a minute on two cores.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "boba/core/spec.h"
#include "boba/rules/boba.h"
#include "boba/rules/boba_hull.h"
#include "boba/text/printable.h"
#include "boba/text/table.h"
#include "simulator/data/catalogue.h"
#include "simulator/experiment/grid.h"
#include "simulator/report/report.h"
#include "simulator/store/store.h"
#include "tools/command.h"
#include "tools/file.h"
#include "tools/train/accuracy_table.h"
#include "tools/train/run_options.h"

namespace boba::tools {
namespace {

constexpr const char* kExperiment = "quickstart";
constexpr const char* kDataset = "fashion-mnist";
// The same with the built-in data set, for machines without any data.
constexpr const char* kWithoutData = "synthetic";

struct DemoOptions : RunOptions {
  std::string experiment = kExperiment;
  std::string out = "boba-demo.html";
};

Result<sim::Grid> choose_grid(const DemoOptions& options) {
  const auto overrides = overrides_of(options.settings);
  if (!overrides) return overrides.error();
  auto grid = sim::load_grid(options.experiment, *overrides);
  if (!grid || options.experiment != kExperiment) return grid;
  const std::string& set = grid->experiments.front().data.set;
  // Only missing data are replaced. Damaged files are an error.
  if (set != kDataset || sim::has_dataset(set, sim::default_sources(options.data))) return grid;
  fmt::print(stderr,
             "Fashion-MNIST was not found (Debian: apt-get install dataset-fashion-mnist); boba "
             "uses its built-in data set.\n");
  return sim::load_grid(kWithoutData, *overrides);
}

void introduce(const sim::Grid& grid) {
  const sim::Experiment& e = grid.experiments.front();
  int attackers = 0;
  for (const sim::Experiment& each : grid.experiments) {
    attackers = std::max(attackers, each.federation.byzantine);
  }
  fmt::print("{} clients share the training data of {}; each holds only a few classes.\n",
             e.federation.honest, e.data.set);
  fmt::print("{} attackers may join them. Each rule trains {} for {} rounds.\n\n", attackers,
             e.model.kind, e.training.rounds);
  std::fflush(stdout);
}

struct WorstClass {
  std::string name;
  double recall = 0;  // in percent
};

Result<WorstClass> worst_class(const sim::Store& store, const sim::RunRecord& run) {
  const auto evaluations = store.evaluations(run.id);
  if (!evaluations) return evaluations.error();
  WorstClass worst;
  if (evaluations->empty()) return worst;
  const auto& recall = evaluations->back().recall;
  const auto lowest = std::min_element(recall.begin(), recall.end());
  worst.name = run.header.classes[static_cast<std::size_t>(lowest - recall.begin())];
  worst.recall = 100 * *lowest;
  return worst;
}

Result<void> print_table(const sim::Store& store, const GridOutcome& outcome) {
  Table table({{"rule"},
               {"attack"},
               {"accuracy %", Align::kRight},
               {"worst class", Align::kLeft},
               {"recall %", Align::kRight},
               {"attackers let in", Align::kRight},
               {"honest kept out", Align::kRight}});
  for (const sim::RunRecord& run : outcome.runs) {
    const auto worst = worst_class(store, run);
    if (!worst) return worst.error();
    const auto rounds = store.rounds(run.id);
    if (!rounds) return rounds.error();
    double accepts = 0;
    double rejects = 0;
    double count = 0;
    for (const sim::RoundRecord& round : *rounds) {
      if (!round.note.empty()) continue;  // a lost model: no client was judged
      accepts += round.false_accepts;
      rejects += round.false_rejects;
      ++count;
    }
    count = std::max(1.0, count);
    table.add({run.header.rule, run.header.attack,
               fmt::format("{:.2f}", 100 * run.accuracy.value_or(0)), worst->name,
               fmt::format("{:.1f}", worst->recall),
               fmt::format("{:.1f} of {}", accepts / count, run.header.byzantine),
               fmt::format("{:.1f} of {}", rejects / count, run.header.honest)});
  }
  fmt::print("{}\n", table.text());
  return {};
}

bool fits_a_simplex(std::string_view rule) {
  const Result<std::vector<Params>> stages = parse_spec(rule);
  if (!stages) return false;
  const std::string& name = stages->front().name;
  return name == BobaOptions::info().name || name == BobaHullOptions::info().name;
}

// The best rule under attack; nothing without an attack. The explanation is true only if a rule of
// the BOBA family wins.
void explain(const GridOutcome& outcome) {
  const AccuracyTable table = accuracy_table(outcome.runs);
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.worst(i) && (!best || *table.worst(i) > *table.worst(*best))) best = i;
  }
  if (!best) return;
  std::string others;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (i == *best || !table.worst(i)) continue;
    others += fmt::format("{}{} {:.1f} %", others.empty() ? " (" : ", ", table.rows[i].rule,
                          *table.worst(i));
  }
  if (!others.empty()) others += ")";
  std::string text = fmt::format("Under attack {} has the highest accuracy, {:.1f} %{}.",
                                 table.rows[*best].rule, *table.worst(*best), others);
  if (fits_a_simplex(table.rows[*best].rule)) {
    text +=
        " Honest clients with different classes send different updates, so a rule that looks for "
        "agreement rejects honest clients or accepts attackers. boba and boba-hull look for a "
        "simplex with a corner for each class, and reject updates far outside.";
  }
  fmt::print("{}", wrap(text, 100, 0));
}

Result<void> write_report(const sim::Store& store, const std::string& out) {
  const auto page = sim::make_report(store, {.title = "boba demo"});
  if (!page) return page.error();
  return write_file(out, *page);
}

Outcome run(const DemoOptions& options) {
  const auto grid = choose_grid(options);
  if (!grid) return usage(grid.error().message);
  auto store = sim::Store::open(options.db, sim::OpenMode::kCreate);
  if (!store) return failed(store.error());
  introduce(*grid);
  const auto outcome = run_with_progress(*grid, *store, options, *make_self_communicator());
  if (!outcome) return failed(outcome.error());
  if (outcome->stopped) return Failure{kFailed, "stopped; run the same command again to continue"};
  if (!outcome->complaints.empty()) return Failure{kFailed, outcome->complaints.front()};
  if (Result<void> printed = print_table(*store, *outcome); !printed) {
    return failed(printed.error());
  }
  explain(*outcome);
  if (Result<void> written = write_report(*store, options.out); !written) {
    return failed(written.error());
  }
  std::error_code failure;
  const std::filesystem::path full = std::filesystem::absolute(options.out, failure);
  fmt::print("\nReport with pictures: {}\n", printable(failure ? options.out : full.string()));
  return {};
}

}  // namespace

void add_demo(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<DemoOptions>();
  options->db = "boba-demo.db";
  options->resume = true;
  CLI::App* command = app.add_subcommand("demo", kDemoSummary);
  command->add_option("--db", options->db, "results database; created if missing")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--out", options->out, "the report")
      ->type_name("FILE.html")
      ->capture_default_str();
  command->add_option("--experiment", options->experiment, "another experiment; see 'boba run'")
      ->type_name("FILE|NAME")
      ->capture_default_str();
  add_run_options(*command, *options);
  command->add_flag("--again", options->again, "repeat finished runs");
  command->footer(
      "Fashion-MNIST comes from the Debian package dataset-fashion-mnist. Without it, boba uses\n"
      "built-in data. Finished runs are not repeated.\n"
      "\n"
      "Examples:\n"
      "  boba demo\n"
      "  boba demo --experiment synthetic --db small.db --out small.html");
  command->callback([options, &outcome] { outcome = run(*options); });
}

}  // namespace boba::tools
