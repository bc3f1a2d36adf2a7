// boba rules: the aggregation rules and the stages around them.

#include "tools/command.h"
#include "tools/describe.h"

namespace boba::tools {

void add_rules(CLI::App& app, Outcome& outcome) {
  struct Options {
    std::string name;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("rules", "list the rules and stages, or explain one");
  command->add_option("NAME", options->name, "explain this rule or stage");
  command->add_flag("--json", options->json, "print JSON");
  command->footer(
      "Examples:\n"
      "  boba rules\n"
      "  boba rules boba\n"
      "  boba rules --json");
  command->callback([options, &outcome] {
    outcome =
        print_described(described_rules(), "rules", "rule or stage", options->name, options->json);
  });
}

}  // namespace boba::tools
