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

struct ImportOptions {
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
void print_count(std::size_t count, std::string_view what) {
  if (count > 0) fmt::print("{:>6}  {}\n", count, what);
}

void print_report(const sim::ImportReport& report) {
  print_count(report.copied, "copied");
  print_count(report.replaced, "replaced unfinished runs");
  print_count(report.identical, "already present");
  print_count(report.other, "kept: other version or device");
  print_count(report.contradictions.size(), "kept: contradict");
  print_count(report.not_further, "skipped: not further than here");
  print_count(report.busy, "skipped: in use");
  print_count(report.measurements, "measurements copied");
}

Outcome run_import(const ImportOptions& options) {
  // Opened first, so that a failure does not leave an empty new database.
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
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = results.add_subcommand("import", "copy the runs of another database");
  command->add_option("DB", options->from, "the other database; it is only read")
      ->required()
      ->type_name("FILE");
  command->add_option("--db", options->db, "results database; created if missing")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_flag("--keep", options->keep,
                    "if finished runs contradict each other, keep those of --db");
  command->footer(
      "Two runs are the same if experiment and data are the same. Runs that --db lacks are "
      "copied.\n"
      "Finished runs replace unfinished ones, and unfinished runs replace those with fewer "
      "rounds.\n"
      "Two finished runs of one version contradict each other if their accuracies differ by more\n"
      "than half a point in some round. Then nothing is written, unless --keep is given. Runs of\n"
      "different versions or devices may differ; those of --db are kept.\n"
      "\n"
      "Examples:\n"
      "  boba results import gpu.db\n"
      "  boba results import gpu.db --db all.db");
  command->callback([options, &outcome] { outcome = run_import(*options); });
}

}  // namespace boba::tools
