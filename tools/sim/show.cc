// boba show: everything of one run.

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

#include "tools/command.h"
#include "tools/sim/results_common.h"
#include "tools/sim/results_run.h"

namespace boba::tools {
namespace {

struct ShowOptions {
  std::string db = "boba.db";
  std::int64_t run = 0;
  bool json = false;
};

Outcome run_show(const ShowOptions& options) {
  Result<sim::Store> store = open_results(options.db);
  if (!store) return failed(store.error());
  Result<WholeRun> run = read_whole_run(*store, options.run);
  if (!run) return failed(run.error());
  fmt::print("{}", options.json ? run_json(*run) : run_text(*run));
  return {};
}

}  // namespace

Result<WholeRun> read_whole_run(const sim::Store& store, std::int64_t run) {
  WholeRun whole;
  // Fills one part; false at the first error.
  Result<void> state;
  const auto take = [&](auto result, auto& place) {
    if (!state) return;
    if (!result) {
      state = result.error();
    } else {
      place = std::move(*result);
    }
  };
  take(store.run(run), whole.record);
  take(store.clients(run), whole.clients);
  take(store.rounds(run), whole.rounds);
  take(store.evaluations(run), whole.evaluations);
  take(store.last_estimate(run), whole.estimate);
  if (!state) return state.error();
  return whole;
}

void add_show(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand("show", "show everything of one run");
  command->add_option("run", options->run, "number of the run, as 'boba results' lists it")
      ->required()
      ->check(whole_number(1, std::numeric_limits<std::int64_t>::max()))
      ->type_name("RUN");
  add_db_option(*command, options->db);
  command->add_flag("--json", options->json, "as JSON, with every round");
  command->footer(
      "Examples:\n"
      "  boba show 3\n"
      "  boba show 3 --db mnist.db --json | jq .evaluations[-1].recall");
  command->callback([options, &outcome] { outcome = run_show(*options); });
}

}  // namespace boba::tools
