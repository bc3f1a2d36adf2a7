// boba attacks: what Byzantine clients may send.

#include "tools/command.h"
#include "tools/describe.h"

namespace boba::tools {

void add_attacks(CLI::App& app, Outcome& outcome) {
  struct Options {
    std::string name;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("attacks", "list the attacks, or explain one");
  command->add_option("NAME", options->name, "explain this attack");
  command->add_flag("--json", options->json, "print JSON");
  command->footer(
      "Examples:\n"
      "  boba attacks\n"
      "  boba attacks lie\n"
      "  boba attacks --json");
  command->callback([options, &outcome] {
    outcome =
        print_described(described_attacks(), "attacks", "attack", options->name, options->json);
  });
}

}  // namespace boba::tools
