// What the subcommands of `boba paper` share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "boba/core/result.h"
#include "reproduction/expand.h"
#include "reproduction/paper_file.h"
#include "tools/command.h"

namespace boba::tools {

inline constexpr const char* kPaperDatabase = "boba-paper.db";

// Which experiments, and how much of them.
struct PaperChoice {
  std::vector<std::string> names;  // none: all
  std::vector<std::string> grids;
  std::vector<std::string> settings;
  int seeds = 0;
  bool quick = false;
};

// NAME..., --grid, --seeds, --quick. REQUIRES: settings are added elsewhere or not at all.
void add_paper_choice(CLI::App& command, PaperChoice& choice);
// --set.
void add_paper_settings(CLI::App& command, PaperChoice& choice);

Result<std::vector<reproduction::PaperFile>> papers_of(const PaperChoice& choice);
Result<reproduction::PaperOptions> paper_options(const PaperChoice& choice);

}  // namespace boba::tools
