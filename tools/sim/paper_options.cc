#include "tools/sim/paper_options.h"

#include <algorithm>
#include <utility>

namespace boba::tools {

void add_paper_choice(CLI::App& command, PaperChoice& choice) {
  command.add_option("NAME", choice.names,
                     "experiments, as 'boba paper list' names them, or files like them");
  command
      .add_option("--grid", choice.grids,
                  "only this part of an experiment, as its file names it; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--seeds", choice.seeds, "seeds 1 to N instead of what the files say")
      ->check(whole_number(1, 1000))
      ->type_name("N");
  command.add_flag("--quick", choice.quick, "small versions: the order of the rules in minutes");
}

void add_paper_settings(CLI::App& command, PaperChoice& choice) {
  command.add_option("--set", choice.settings, "set a key of all runs; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

Result<std::vector<reproduction::PaperFile>> papers_of(const PaperChoice& choice) {
  if (choice.names.empty()) return reproduction::shipped_papers();
  std::vector<reproduction::PaperFile> files;
  for (const std::string& name : choice.names) {
    auto file = reproduction::load_paper(name);
    if (!file) return file.error();
    const bool twice = std::any_of(files.begin(), files.end(),
                                   [&](const auto& other) { return other.name == file->name; });
    if (!twice) files.push_back(*std::move(file));
  }
  return files;
}

Result<reproduction::PaperOptions> paper_options(const PaperChoice& choice) {
  reproduction::PaperOptions options;
  options.quick = choice.quick;
  options.seeds = choice.seeds;
  options.grids = choice.grids;
  for (const std::string& setting : choice.settings) {
    auto parsed = sim::parse_override(setting);
    if (!parsed) return parsed.error();
    options.overrides.push_back(*std::move(parsed));
  }
  return options;
}

}  // namespace boba::tools
