// boba paper: the experiments of the paper. list and report need no training; run does.

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/text/printable.h"
#include "boba/text/table.h"
#include "reproduction/paper_report.h"
#include "reproduction/progress.h"
#include "tools/command.h"
#include "tools/file.h"
#include "tools/sim/paper_options.h"
#include "tools/sim/results_common.h"

namespace boba::tools {
namespace {

struct ListOptions {
  PaperChoice choice;
  std::string db = kPaperDatabase;
};

struct ReportCommand {
  PaperChoice choice;
  std::string db = kPaperDatabase;
  std::string out = "boba-paper.html";
  std::string csv;
  std::string earlier;
  bool db_given = false;
};

// "?" if unknown, "0" if nothing is left, "2 h 05 min".
std::string time_text(const std::optional<double>& seconds) {
  if (!seconds) return "?";
  const long whole = std::lround(*seconds);
  if (whole < 60) return whole == 0 ? "0" : fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min", (whole + 30) / 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

Outcome run_list(const ListOptions& options) {
  const auto files = papers_of(options.choice);
  if (!files) return usage(files.error().message);
  const auto paper = paper_options(options.choice);
  if (!paper) return usage(paper.error().message);
  std::optional<sim::Store> store;
  std::error_code ignored;
  if (std::filesystem::exists(options.db, ignored)) {
    auto opened = sim::Store::open(options.db, sim::OpenMode::kExisting);
    if (!opened) return failed(opened.error());
    store = *std::move(opened);
  }
  const auto progress = reproduction::progress_of(*files, *paper, store ? &*store : nullptr);
  if (!progress) return usage(progress.error().message);
  Table table({{"experiment"},
               {"what"},
               {"data sets"},
               {"runs", Align::kRight},
               {"done", Align::kRight},
               {"seeds", Align::kRight},
               {"time left", Align::kRight},
               {""}});
  for (const reproduction::PaperProgress& each : *progress) {
    table.add({each.name, each.what, each.datasets, std::to_string(each.runs),
               std::to_string(each.done), each.seeds, time_text(each.seconds_left), each.title});
  }
  fmt::print("{}", table.text());
  fmt::print(
      "{}'boba paper run NAME' runs one into {}; time left is estimated from finished runs of the\n"
      "same data and model there. A run that several experiments share counts in each and runs "
      "once.\n",
      options.choice.quick ? "Small versions. " : "", printable(options.db));
  return {};
}

Result<reproduction::EarlierReport> read_earlier(const std::string& folder) {
  std::vector<MappedFile> files;
  std::vector<std::string_view> texts;
  for (const char* name : {"numbers.csv", "points.csv", "facts.csv"}) {
    auto file = MappedFile::open((std::filesystem::path(folder) / name).string());
    if (!file) return file.error();
    const std::span<const std::byte> bytes = file->bytes();
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    files.push_back(*std::move(file));
  }
  auto report = reproduction::parse_earlier(texts[0], texts[1], texts[2]);
  if (report) return report;
  return Error{report.error().code,
               fmt::format("--earlier {}: {}", folder, report.error().message)};
}

Outcome run_report(const ReportCommand& options) {
  const auto files = papers_of(options.choice);
  if (!files) return usage(files.error().message);
  const auto paper = paper_options(options.choice);
  if (!paper) return usage(paper.error().message);
  std::error_code ignored;
  if (std::filesystem::equivalent(options.db, options.out, ignored)) {
    return usage(
        fmt::format("--out {} is the database itself; give the page another name", options.out));
  }
  if (!options.earlier.empty() && (options.choice.quick || !options.choice.settings.empty())) {
    return usage("--earlier has numbers of the full experiments; omit --quick and --set");
  }
  const bool part =
      !options.choice.names.empty() || !options.choice.grids.empty() || options.choice.seeds > 0;
  if (part && std::filesystem::equivalent(options.earlier, options.csv, ignored)) {
    return usage(
        "--csv would overwrite the numbers of --earlier with those of a part of the experiments; "
        "give it another folder, or omit names, --grid and --seeds");
  }
  std::optional<reproduction::EarlierReport> earlier;
  if (!options.earlier.empty()) {
    auto read = read_earlier(options.earlier);
    if (!read) return failed(read.error());
    earlier = *std::move(read);
  }
  // An earlier report can be drawn again without any database, if none is named.
  std::optional<sim::Store> store;
  if (!earlier || options.db_given || std::filesystem::exists(options.db, ignored)) {
    Result<sim::Store> opened =
        open_results(options.db, "'boba paper run' makes one, or name another with --db");
    if (!opened) return failed(opened.error());
    store = *std::move(opened);
  }
  const auto report = reproduction::make_paper_report(*files, *paper, store ? &*store : nullptr,
                                                      earlier ? &*earlier : nullptr);
  if (!report) return failed(report.error());
  if (Result<void> done = write_file(options.out, report->html); !done) return failed(done.error());
  fmt::print("{}\n", printable(options.out));
  if (options.csv.empty()) return {};
  std::filesystem::create_directories(options.csv, ignored);
  for (const reproduction::NumbersFile& numbers : report->numbers) {
    const std::string path = (std::filesystem::path(options.csv) / numbers.name).string();
    if (Result<void> done = write_file(path, numbers.text); !done) return failed(done.error());
    fmt::print("{}\n", printable(path));
  }
  return {};
}

void add_list(CLI::App& paper, Outcome& outcome) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command =
      paper.add_subcommand("list", "list the experiments, the finished runs and the time left");
  add_paper_choice(*command, options->choice);
  add_paper_settings(*command, options->choice);
  add_db_option(*command, options->db);
  command->footer(
      "Examples:\n"
      "  boba paper list\n"
      "  boba paper list --quick\n"
      "  boba paper list robustness --grid mnist --seeds 5");
  command->callback([options, &outcome] { outcome = run_list(*options); });
}

void add_paper_report(CLI::App& paper, Outcome& outcome) {
  auto options = std::make_shared<ReportCommand>();
  CLI::App* command =
      paper.add_subcommand("report", "published numbers, ours and the difference, as one page");
  add_paper_choice(*command, options->choice);
  add_paper_settings(*command, options->choice);
  add_db_option(*command, options->db);
  command->add_option("--out", options->out, "the page to write")
      ->type_name("FILE.html")
      ->capture_default_str();
  command->add_option("--csv", options->csv, "write the numbers into this folder too")
      ->type_name("DIR");
  command
      ->add_option("--earlier", options->earlier,
                   "folder written by --csv; used where the database has fewer seeds")
      ->type_name("DIR");
  command->footer(
      "The page needs no network and no other file. It shows missing runs as not run.\n"
      "\n"
      "Examples:\n"
      "  boba paper report\n"
      "  boba paper report --db all.db --out paper.html --csv numbers\n"
      "  boba paper report --earlier docs/results --csv docs/results\n"
      "  boba paper report robustness --quick");
  command->callback([options, command, &outcome] {
    options->db_given = command->count("--db") > 0;
    outcome = run_report(*options);
  });
}

}  // namespace

void add_paper(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("paper", kPaperSummary);
  command->require_subcommand(1);
  command->footer(
      "Every table and figure of W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning\n"
      "with Label Skewness. AISTATS 2024.\n"
      "\n"
      "Examples:\n"
      "  boba paper list\n"
      "  boba paper run robustness --quick\n"
      "  boba paper report");
  add_list(*command, outcome);
  add_paper_run(*command, outcome);
  add_paper_report(*command, outcome);
}

}  // namespace boba::tools
