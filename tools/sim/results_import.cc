#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "boba/text/printable.h"
#include "boba/text/table.h"
#include "tools/sim/results_common.h"

namespace boba::tools {
namespace {

struct Options {
  std::string db = "boba.db";
  std::string from;
  bool keep = false;
};

constexpr std::size_t kMostShown = 20;

void print_contradictions(const sim::ImportReport& report) {
  Table table({{"here", Align::kRight},
               {"there", Align::kRight},
               {"what"},
               {"round", Align::kRight},
               {"here %", Align::kRight},
               {"there %", Align::kRight}});
  for (std::size_t i = 0; i < std::min(kMostShown, report.contradictions.size()); ++i) {
    const sim::Contradiction& each = report.contradictions[i];
    table.add({std::to_string(each.ours), std::to_string(each.theirs), each.what,
               std::to_string(each.round), percent(each.accuracy_ours),
               percent(each.accuracy_theirs)});
  }
  fmt::print("Finished runs of the same experiment and data with different accuracies:\n{}",
             table.text());
  if (report.contradictions.size() > kMostShown) {
    fmt::print("and {} more\n", report.contradictions.size() - kMostShown);
  }
}

// "12 runs copied"; nothing for none.
void say(std::size_t count, std::string_view what) {
  if (count > 0) fmt::print("{:>6}  {}\n", count, what);
}

void print_report(const sim::ImportReport& report) {
  say(report.copied, "copied");
  say(report.replaced, "took the place of unfinished ones");
  say(report.identical, "were here already, with the same numbers");
  say(report.other, "are here from another version or device: these were kept");
  say(report.contradictions.size(), "contradict the ones that are here: these were kept");
  say(report.behind, "were not finished there, or not further than here");
  say(report.busy, "were left alone: a process is at work on them here");
  say(report.measurements, "measurements copied");
}

Outcome run_import(const Options& options) {
  // Opened first: a database that is made for nothing would be left behind.
  if (auto other = open_results(options.from, "nothing was written"); !other) {
    return failed(other.error());
  }
  Result<sim::Store> store = sim::Store::open(options.db, sim::OpenMode::kCreate);
  if (!store) return failed(store.error());
  const auto report = store->import_from(
      options.from, options.keep ? sim::ImportMode::kKeep : sim::ImportMode::kRefuse);
  if (!report) return failed(report.error());
  if (!report->contradictions.empty()) print_contradictions(*report);
  if (!report->written) {
    return Failure{kFailed,
                   fmt::format("{} contradict {}; nothing was written. --keep keeps what is in {}",
                               options.from, options.db, options.db)};
  }
  fmt::print("Runs of {} into {}:\n", printable(options.from), printable(options.db));
  print_report(*report);
  return {};
}

}  // namespace

void add_results_import(CLI::App& results, Outcome& outcome) {
  auto options = std::make_shared<Options>();
  CLI::App* command = results.add_subcommand("import", "take over the runs of another database");
  command->add_option("DB", options->from, "the other database; it is only read")
      ->required()
      ->type_name("FILE");
  command->add_option("--db", options->db, "where they go; made if it is not there")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_flag("--keep", options->keep,
                    "where finished runs contradict each other, keep those that are here");
  command->footer(
      "Runs are the same where experiment and data are. Those that are not here are copied whole,\n"
      "finished ones take the place of unfinished ones, and the same numbers are not copied "
      "twice.\n"
      "Two finished runs whose accuracies differ by more than half a point in some round\n"
      "contradict each other, unless their versions differ (a GPU rounds otherwise): then nothing\n"
      "is written.\n"
      "\n"
      "Examples:\n"
      "  boba results import gpu.db\n"
      "  boba results import gpu.db --db all.db");
  command->callback([options, &outcome] { outcome = run_import(*options); });
}

}  // namespace boba::tools
