// The experiments of the paper: small TOML files that refer to the experiments boba ships.
//
//   title = "Robustness"
//   what = "Table 2"
//   kind = "table"
//   [[grid]]
//   name = "mnist"
//   experiment = "mnist"
//   set = ['attack=ipm']
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/experiment/grid.h"

namespace boba::reproduction {

// How the results are shown, and for the last four what is computed instead of runs.
enum class Kind : std::uint8_t {
  kTable,
  kLines,   // accuracy over the setting, a panel for each attack
  kBars,    // accuracy by setting and attack
  kMatrix,  // setting against the second one
  kPca,
  kPicture,
  kTime,
  kLossRatio,
};

// Whether it is made of runs, or of measurements.
bool is_runs(Kind kind);

// Runs of an experiment with some keys set.
struct PaperGrid {
  std::string name;
  std::string experiment;            // that boba ships, or a file
  int seeds = 1;                     // seed = [1, ..., seeds]
  std::vector<std::string> set;      // as --set takes them
  std::vector<std::string> without;  // names of rules and attacks that are left out
  std::string setting;    // what tells its settings apart: a key, or KEY.OPTION; may be empty
  std::string otherwise;  // the setting where the option is not there
  std::string second;     // the same for a second direction; may be empty
  std::string second_otherwise = "0";
  bool has_quick = false;
  std::vector<std::string> quick;  // more to set in the small version
};

struct PaperFile {
  std::string name;                    // of the file, without its ending
  std::string title;                   // "Robustness"
  std::string what;                    // "Table 2"
  std::string about;                   // a few sentences for a reader
  std::vector<std::string> published;  // names of CSV files of published values; may be empty
  std::string axis;                    // what the setting is called; may be empty
  std::string second_axis;
  Kind kind = Kind::kTable;
  int place = 0;  // in lists
  int seeds = 0;  // of experiments without grids
  std::vector<PaperGrid> grids;
};

// Errors begin with "origin:line: ".
Result<PaperFile> parse_paper(std::string_view toml, std::string_view origin,
                              std::string_view name);

// An experiment of the paper that boba ships, or a file.
Result<PaperFile> load_paper(const std::string& file_or_name);

// All that boba ships, by their place.
Result<std::vector<PaperFile>> shipped_papers();

}  // namespace boba::reproduction
