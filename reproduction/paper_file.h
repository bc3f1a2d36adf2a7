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

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "boba/core/options.h"
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
inline constexpr std::array<std::string_view, 8> kKinds = {
    "table", "lines", "bars", "matrix", "pca", "picture", "time", "loss-ratio"};

// Whether it is made of runs, or of measurements.
bool is_runs(Kind kind);

inline constexpr int kMostSeeds = 1000;

// Runs of an experiment with some keys set. Texts may be empty but for the name and the experiment.
struct PaperGrid {
  std::string name;
  std::string experiment;
  int seeds = 1;
  std::vector<std::string> set;
  std::vector<std::string> without;
  std::string setting;
  std::string default_setting;
  std::string second;
  std::string default_second = "0";
  std::vector<std::string> quick;
  bool has_quick = false;

  static constexpr auto fields() {
    return std::tuple{
        field("name", &PaperGrid::name, "of the grid"),
        field("experiment", &PaperGrid::experiment, "that boba ships, or a file"),
        field("seeds", &PaperGrid::seeds, "seed = [1, ..., seeds]").between(1, kMostSeeds),
        field("set", &PaperGrid::set, "as --set takes them"),
        field("without", &PaperGrid::without, "names of rules and attacks that are left out"),
        field("setting", &PaperGrid::setting, "what its settings differ in: a key, or KEY.OPTION"),
        field("default_setting", &PaperGrid::default_setting, "where the option is not there"),
        field("second", &PaperGrid::second, "the same for a second direction"),
        field("default_second", &PaperGrid::default_second, "where the option is not there"),
        field("quick", &PaperGrid::quick, "more to set in the small version")};
  }
};

struct PaperFile {
  std::string name;  // of the file, without its ending
  std::string title;
  std::string what;
  std::string about;
  std::vector<std::string> published;
  std::string axis;
  std::string second_axis;
  Kind kind = Kind::kTable;
  int place = 0;
  int seeds = 0;
  std::vector<PaperGrid> grids;  // [[grid]]

  static constexpr auto fields() {
    return std::tuple{
        field("title", &PaperFile::title, "\"Robustness\""),
        field("what", &PaperFile::what, "\"Table 2\""),
        field("place", &PaperFile::place, "in lists").between(0, 1000),
        field("about", &PaperFile::about, "a few sentences for a reader"),
        field("kind", &PaperFile::kind, "what it is shown as").one_of(kKinds),
        field("published", &PaperFile::published, "names of CSV files of published values"),
        field("axis", &PaperFile::axis, "what the setting is called"),
        field("second_axis", &PaperFile::second_axis, "what the second direction is called"),
        field("seeds", &PaperFile::seeds, "of an experiment without grids").between(1, kMostSeeds)};
  }
};

// Errors begin with "origin:line: ".
Result<PaperFile> parse_paper(std::string_view toml, std::string_view origin,
                              std::string_view name);

// An experiment of the paper that boba ships, or a file.
Result<PaperFile> load_paper(const std::string& file_or_name);

// All that boba ships, by their place.
Result<std::vector<PaperFile>> shipped_papers();

}  // namespace boba::reproduction
