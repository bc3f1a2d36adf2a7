// boba: the command-line tool.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "boba/dist/launch.h"
#include "boba/text/names.h"
#include "tools/command.h"

namespace boba::tools {
namespace {

constexpr const char* kDescription =
    "Byzantine-robust aggregation for federations with label skew.\n"
    "\n"
    "boba combines the updates of a federation's clients into one that a minority of hostile\n"
    "clients cannot steer. It reports for every client whether the client was accepted, and why.\n"
    "It simulates whole federations, and aggregates rounds from NumPy files, one update per row.\n";

constexpr const char* kFooter =
    "A rule is written name(option=value,...); stages are joined by |. Quote it for the shell.\n"
    "\n"
    "Examples:\n"
    "  boba demo                                    a federation under attack, and its report\n"
    "  boba run quickstart                          an experiment, its results in boba.db\n"
    "  boba report                                  the same as a page with pictures\n"
    "  boba example                                 attacks and rules side by side on one round\n"
    "  boba rules                                   the rules and stages\n"
    "  boba rules boba                              one rule in full, with its options\n"
    "  boba aggregate --rule 'mkrum(f=2)' --updates updates.npy\n"
    "  boba aggregate --rule 'boba(f=2)' --updates updates.npy --server server.npy \\\n"
    "                 --out aggregate.npy --report report.json\n"
    "  boba aggregate --rule 'bucketing(s=2) | krum(f=2)' --updates updates.npy\n"
    "  boba attack --attack 'ipm(gamma=10)' --honest updates.npy --byzantine 2 --out evil.npy\n"
    "  boba bench --n 115 --d 199210 --classes 10 --f 16\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 the command line was not understood.\n"
    "'boba COMMAND --help' explains one command.";

// The subcommand that was being read, as the user typed it: "boba aggregate", "boba data list".
std::string spoken_name(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  const std::string& name = app.get_name();
  return chosen.empty() ? name : name + " " + spoken_name(*chosen.front());
}

// The same subcommand itself.
const CLI::App& deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest(*chosen.front());
}

// The first word of the command line that looks like an option the command does not have, or a
// subcommand that does not exist.
std::string unexpected_message(const CLI::App& app) {
  const CLI::App& command = deepest(app);
  std::vector<std::string> known;
  const bool group = !command.get_subcommands({}).empty();
  for (const CLI::App* sub : command.get_subcommands({})) known.push_back(sub->get_name());
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::vector<std::string> extras = app.remaining(true);
  const std::string word = extras.empty() ? "" : extras.front();
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const char* what = word.starts_with("-") ? "option" : group ? "command" : "argument";
  const std::string close = group || word.starts_with("-") ? suggestion(word, candidates) : "";
  return fmt::format("no {} '{}'{}", what, word, close);
}

int report_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::string name = spoken_name(app);
  const bool required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  std::string message = error.what();
  if (extras || (required && !app.remaining(true).empty())) {
    // A misspelt option is the likely reason why a required one is missing.
    message = unexpected_message(app);
  } else if (required && !deepest(app).get_subcommands({}).empty()) {
    const std::string parents = name.substr(0, std::min(name.rfind(' '), name.size()));
    fmt::print(stderr, "{}", &deepest(app) == &app ? app.help() : deepest(app).help(parents));
    return kUsage;
  }
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  const char* separator = message.ends_with('?') ? " " : "; ";
  complain(fmt::format("{}: {}{}see '{} --help'", name, message, separator, name));
  return kUsage;
}

// Of several processes that mpirun started, all work at these commands; at others rank 0 alone.
bool takes_part(int argc, char** argv) {
  if (launched().rank == 0) return true;
  const std::string_view command = argc > 1 ? argv[1] : "";
  return command == "aggregate" || command == "run";
}

int run(int argc, char** argv) {
  if (!takes_part(argc, argv)) return kDone;
  const bool speaks = launched().rank == 0;
  Outcome outcome;
  CLI::App app(kDescription, "boba");
  app.set_version_flag("--version", "boba " BOBA_VERSION, "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.get_formatter()->column_width(32);
  add_demo(app, outcome);
  add_run(app, outcome);
  add_results(app, outcome);
  add_show(app, outcome);
  add_report(app, outcome);
  add_paper(app, outcome);
  add_data(app, outcome);
  add_example(app, outcome);
  add_rules(app, outcome);
  add_attacks(app, outcome);
  add_aggregate(app, outcome);
  add_attack(app, outcome);
  add_bench(app, outcome);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (!speaks) return error.get_exit_code() == 0 ? kDone : kUsage;
    if (error.get_exit_code() == 0) return app.exit(error);
    return report_parse_error(app, error);
  }
  // A full disk behind stdout is a failure like any other.
  if (!outcome && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
    outcome = Failure{kFailed, "cannot write to standard output"};
  }
  if (!outcome) return kDone;
  if (speaks && !outcome->message.empty()) {
    complain(fmt::format("{}: {}", spoken_name(app), outcome->message));
  }
  return outcome->exit_code;
}

}  // namespace
}  // namespace boba::tools

int main(int argc, char** argv) {
  try {
    return boba::tools::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("boba: out of memory\n", stderr);
  } catch (const std::length_error&) {
    std::fputs("boba: out of memory\n", stderr);
  } catch (const std::exception& error) {
    boba::tools::complain(std::string("boba: internal error: ") + error.what());
  }
  return boba::tools::kFailed;
}
