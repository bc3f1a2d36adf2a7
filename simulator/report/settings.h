// Settings: runs that may be compared, with the grid of their rules and attacks. Their experiments
// differ in rule, attack, number of Byzantine clients and seed only.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simulator/report/report_data.h"
#include "simulator/report/statistics.h"

namespace boba::sim::report {

using Config = std::vector<std::pair<std::string, std::string>>;  // key and value, in order

// The lines "key = value" of a run's experiment.
Config config_of(const RunHeader& header);

// A rule, or an attack with its number of Byzantine clients.
struct Axis {
  std::string spec;
  std::string label;    // the name alone where that says enough
  int byzantine = 0;    // of an attack
  std::size_t hue = 0;  // of a rule: its colour, the same all over the page

  bool is_attack() const { return spec != "none"; }
};

// One rule under one attack. If no run has finished, those that came furthest stand for it.
struct Cell {
  std::vector<const RunData*> runs;  // with an accuracy; in the order of their seeds
  bool partial = false;              // none of them has finished
  std::size_t all = 0;               // runs, with an accuracy or not
  std::size_t failed = 0;            // of all
  Statistics accuracy;
  Statistics mrd;
};

// A rule at its worst over the attacks of the setting, none excepted.
struct Worst {
  std::size_t rule = 0;
  std::size_t attack = 0;
  Statistics accuracy;
  std::size_t attacks = 0;  // that the rule has a number for
  bool complete = false;    // finished runs under every attack of the setting: may be compared
};

struct Setting {
  std::string title;  // "fashion-mnist · mlp · fedsgd · pairs"
  std::vector<const RunData*> runs;
  std::vector<Axis> rules;
  std::vector<Axis> attacks;  // "none" first
  std::vector<std::vector<Cell>> cells;
  std::vector<std::string> classes;
  Config config;  // what its runs share

  const Cell& cell(std::size_t rule, std::size_t attack) const { return cells[rule][attack]; }
  // Best first: complete ones before others, more attacks before fewer, then by accuracy.
  std::vector<Worst> worst_cases() const;
};

// In the order of their first runs. A rule without server data has no word of them in its
// experiment, and a run without attackers none of when they come: such a run belongs to every
// setting that is like it otherwise. The runs must outlive the settings.
std::vector<Setting> settings_of(std::span<const RunData> runs);

// "bucketing(s=2) | krum(f=16)" -> "bucketing | krum".
std::string short_spec(std::string_view spec);

}  // namespace boba::sim::report
