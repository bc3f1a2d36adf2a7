// The runs of an experiment of the paper, each with its place in a table or figure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "reproduction/paper_file.h"
#include "simulator/experiment/grid.h"

namespace boba::reproduction {

struct PaperOptions {
  bool quick = false;                   // the small version
  int seeds = 0;                        // 0: as the file says; the small version has one
  std::vector<std::string> grids = {};  // names of grids; empty: all
  std::vector<sim::Override> overrides = {};
};

// One run and the cell that it belongs to.
struct PaperRun {
  sim::ResolvedExperiment experiment;
  std::string dataset = {};  // "mnist"
  // "mkrum": the name of the stage that decides; the whole text if several share a name and a cell.
  std::string rule = {};
  std::string attack = {};   // "ipm", "none"; likewise
  std::string setting = {};  // "0.25"; empty where the file names none
  std::string second = {};
};

struct PaperRuns {
  std::vector<PaperRun> runs;
  std::size_t grids_left_out = 0;  // that have no small version
};

// Equal runs once. An error names the file and the allowed values.
Result<PaperRuns> expand(const PaperFile& file, const PaperOptions& options);

// As the runner takes them.
sim::Grid grid_of(const PaperFile& file, std::span<const PaperRun> runs);

// "mkrum(f=16) | server-mix(lambda=0.5)" -> "mkrum", "bucketing(s=2) | krum(f=16)" -> "krum".
std::string rule_name(std::string_view spec);
// "gauss(sigma=200)" -> "gauss".
std::string short_name(std::string_view spec);

// The value of a key ("server.per_class"), or of an option of the spec that a key holds
// ("rule.p_min"), defaults included; fallback where there is none.
std::string value_at(const sim::ResolvedExperiment& experiment, std::string_view path,
                     const std::string& fallback);

}  // namespace boba::reproduction
