// boba results: the runs of a database as a table.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "boba/text/printable.h"
#include "boba/text/table.h"
#include "simulator/report/text.h"
#include "tools/command.h"
#include "tools/sim/results_common.h"
#include "tools/sim/results_mean.h"

namespace boba::tools {
namespace {

struct ResultsOptions {
  std::string db = "boba.db";
  std::string where;
  bool csv = false;
  bool mean = false;
};

using Runs = std::vector<sim::RunRecord>;

void print_table(const Runs& runs) {
  Table table({{"run", Align::kRight},
               {"status"},
               {"dataset"},
               {"model"},
               {"algorithm"},
               {"rule"},
               {"attack"},
               {"byz", Align::kRight},
               {"seed", Align::kRight},
               {"rounds", Align::kRight},
               {"accuracy", Align::kRight},
               {"mrd", Align::kRight},
               {"seconds", Align::kRight}});
  for (const sim::RunRecord& run : runs) {
    const sim::RunHeader& header = run.header;
    table.add({std::to_string(run.id), std::string(sim::name(run.status)), header.dataset,
               header.model, header.algorithm, header.rule, header.attack,
               std::to_string(header.byzantine), std::to_string(header.seed),
               fmt::format("{}/{}", run.rounds_done, header.rounds), percent(run.accuracy),
               percent(run.mrd), fmt::format("{:.1f}", run.seconds)});
  }
  fmt::print("{}", table.text());
}

// Data for programs: in a file or a pipe cells are kept byte for byte, quoted where they must be. A
// terminal gets them as it gets a table.
void print_csv_line(std::vector<std::string> cells) {
  static const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  for (std::string& cell : cells) {
    if (terminal) cell = printable(cell);
  }
  fmt::print("{}", sim::report::csv_line(cells));
}

void print_csv(const Runs& runs) {
  const std::vector<std::string> titles = {
      "run",     "status",      "dataset", "model",     "algorithm", "rule",
      "attack",  "byzantine",   "seed",    "rounds",    "accuracy",  "mrd",
      "seconds", "rounds_done", "name",    "partition", "honest",    "parameters",
      "created", "finished",    "version", "error",     "model_file"};
  print_csv_line(titles);
  for (const sim::RunRecord& run : runs) {
    const sim::RunHeader& header = run.header;
    const std::vector<std::string> cells = {std::to_string(run.id),
                                            std::string(sim::name(run.status)),
                                            header.dataset,
                                            header.model,
                                            header.algorithm,
                                            header.rule,
                                            header.attack,
                                            std::to_string(header.byzantine),
                                            std::to_string(header.seed),
                                            std::to_string(header.rounds),
                                            exact(run.accuracy),
                                            exact(run.mrd),
                                            exact(run.seconds),
                                            std::to_string(run.rounds_done),
                                            header.name,
                                            header.partition,
                                            std::to_string(header.honest),
                                            std::to_string(header.parameters),
                                            run.created,
                                            run.finished,
                                            header.version,
                                            run.error,
                                            run.model_file};
    print_csv_line(cells);
  }
}

// "92.45 +- 0.31", without the second part for a single run.
std::string spread(const sim::report::Statistics& over) {
  if (over.count < 2) return percent(over.known_mean());
  return percent(over.mean) + " +- " + percent(over.deviation);
}

void print_mean_table(const std::vector<RunGroup>& groups) {
  Table table({{"runs", Align::kRight},
               {"dataset"},
               {"model"},
               {"algorithm"},
               {"rule"},
               {"attack"},
               {"byz", Align::kRight},
               {"rounds", Align::kRight},
               {"accuracy", Align::kRight},
               {"mrd", Align::kRight},
               {"seconds", Align::kRight}});
  for (const RunGroup& group : groups) {
    const sim::RunHeader& header = group.header;
    table.add({std::to_string(group.runs), header.dataset, header.model, header.algorithm,
               header.rule, header.attack, std::to_string(header.byzantine),
               std::to_string(header.rounds), spread(group.accuracy), spread(group.mrd),
               fmt::format("{:.1f}", group.seconds.mean)});
  }
  fmt::print("{}", table.text());
}

void print_mean_csv(const std::vector<RunGroup>& groups) {
  const std::vector<std::string> titles = {
      "runs",     "dataset",     "model", "algorithm", "rule",    "attack", "byzantine", "rounds",
      "accuracy", "accuracy_sd", "mrd",   "mrd_sd",    "seconds", "name",   "partition", "honest"};
  print_csv_line(titles);
  for (const RunGroup& group : groups) {
    const sim::RunHeader& header = group.header;
    const std::vector<std::string> cells = {std::to_string(group.runs),
                                            header.dataset,
                                            header.model,
                                            header.algorithm,
                                            header.rule,
                                            header.attack,
                                            std::to_string(header.byzantine),
                                            std::to_string(header.rounds),
                                            exact(group.accuracy.known_mean()),
                                            exact(group.accuracy.known_deviation()),
                                            exact(group.mrd.known_mean()),
                                            exact(group.mrd.known_deviation()),
                                            exact(group.seconds.known_mean()),
                                            header.name,
                                            header.partition,
                                            std::to_string(header.honest)};
    print_csv_line(cells);
  }
}

void print_mean(const Runs& runs, bool csv) {
  const std::vector<RunGroup> groups = group_by_seed(runs);
  if (csv) return print_mean_csv(groups);
  std::size_t counted = 0;
  for (const RunGroup& group : groups) counted += group.runs;
  if (!groups.empty()) print_mean_table(groups);
  if (counted < runs.size()) {
    fmt::print("{} of {} runs have not finished and are left out\n", runs.size() - counted,
               runs.size());
  }
}

Outcome run_results(const ResultsOptions& options) {
  Result<sim::Store> store = open_results(options.db);
  if (!store) return failed(store.error());
  Result<Runs> runs = store->runs(options.where);
  if (!runs) {
    const bool mistyped = runs.error().code == ErrorCode::kInvalidArgument;
    return mistyped ? usage(runs.error().message) : failed(runs.error());
  }
  if (runs->empty() && !options.csv) {
    fmt::print("{}\n",
               printable(options.where.empty()
                             ? options.db + " has no runs yet; 'boba run' adds them"
                             : fmt::format("no run of {} fits {}", options.db, options.where)));
    return {};
  }
  if (options.mean) {
    print_mean(*runs, options.csv);
  } else if (options.csv) {
    print_csv(*runs);
  } else {
    print_table(*runs);
  }
  return {};
}

}  // namespace

void add_results(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ResultsOptions>();
  CLI::App* command = app.add_subcommand("results", "list the runs of a results database");
  add_db_option(*command, options->db);
  command->add_option("--where", options->where, "only runs that fit all these conditions")
      ->type_name("KEY=VALUE,...");
  command->add_flag("--csv", options->csv, "comma-separated values, shares from 0 to 1");
  command->add_flag("--mean", options->mean,
                    "mean and standard deviation over the seeds of finished runs");
  command->footer(
      "accuracy and mrd are in percent. mrd is the largest drop of a class's recall against the\n"
      "run with rule average and no attack; - where that run has not finished.\n"
      "\n"
      "Conditions: key=value and key!=value (a whole text, or the name of a rule, attack or model\n"
      "before its brackets), key~text and key!~text (contains it), and < <= > >= for numbers and\n"
      "dates.\n"
      "\n"
      "--csv writes texts as the database holds them. On a terminal, control characters in them\n"
      "are shown as escapes.\n"
      "\n"
      "Examples:\n"
      "  boba results\n"
      "  boba results --where 'rule=boba,attack~ipm,accuracy>=0.9'\n"
      "  boba results --mean --where dataset=mnist\n"
      "  boba results --csv > results.csv\n"
      "  boba results import other.db");
  add_results_import(*command, outcome);
  command->callback([command, options, &outcome] {
    // CLI11 calls the command of a subcommand too.
    if (command->get_subcommands().empty()) outcome = run_results(*options);
  });
}

}  // namespace boba::tools
