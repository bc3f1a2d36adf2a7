// Experiment files: TOML with lists as sweep axes.
//
//   rule = ["average", "boba(f=16)"]
//   attack = ["none", "ipm"]
//   [data]
//   set = "mnist"
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/experiment/resolved.h"

namespace boba::sim {

// The runs of an experiment file: the product of its lists, the first key slowest, equal runs once.
struct Grid {
  std::string name;  // of the file, without its ending
  std::vector<ResolvedExperiment> experiments;
};

struct Override {
  std::string key;    // "training.rounds", "rule"
  std::string value;  // as in TOML; a word that is not a TOML value is a string
};

// "training.rounds=20".
Result<Override> parse_override(std::string_view text);

// Every error names the file, the line, and the nearest valid key or the allowed values. All runs
// of the grid are checked before the first starts. Errors call the text origin.
Result<Grid> parse_grid(std::string_view toml, std::string_view origin, std::string_view name,
                        std::span<const Override> overrides = {});

// A file, or the name of an experiment that boba ships.
Result<Grid> load_grid(const std::string& file_or_name, std::span<const Override> overrides = {});

// The experiments that boba ships, from experiments/*.toml.
struct ShippedExperiment {
  std::string_view name;
  std::string_view summary;  // the first comment of the file
  std::string_view toml;
};
std::span<const ShippedExperiment> shipped_experiments();

}  // namespace boba::sim
