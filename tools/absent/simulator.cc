// The simulator's commands where it was not built: each says how to get it.

#include <fmt/format.h>

#include <string>

#include "tools/command.h"

namespace boba::tools {
namespace {

void add_absent(CLI::App& app, Outcome& outcome, const std::string& name,
                const std::string& summary) {
  CLI::App* command = app.add_subcommand(name, summary + " (not in this build)");
  command->allow_extras();
  command->footer("Examples:\n  boba example   what there is without the simulator");
  command->callback([name, &outcome] {
    outcome = Failure{kFailed,
                      "this boba was built without the simulator; configure it with "
                      "-DBOBA_SIM=ON"};
  });
}

}  // namespace

void add_demo(CLI::App& app, Outcome& outcome) { add_absent(app, outcome, "demo", kDemoSummary); }
void add_run(CLI::App& app, Outcome& outcome) { add_absent(app, outcome, "run", kRunSummary); }
void add_results(CLI::App& app, Outcome& outcome) {
  add_absent(app, outcome, "results", "list the runs of a database");
}
void add_show(CLI::App& app, Outcome& outcome) {
  add_absent(app, outcome, "show", "show everything of one run");
}
void add_report(CLI::App& app, Outcome& outcome) {
  add_absent(app, outcome, "report", "draw the runs of a database");
}
void add_paper(CLI::App& app, Outcome& outcome) {
  add_absent(app, outcome, "paper", kPaperSummary);
}
void add_data(CLI::App& app, Outcome& outcome) {
  add_absent(app, outcome, "data", "list and verify data sets");
}

}  // namespace boba::tools
