#include "reproduction/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "boba/attacks/registry.h"
#include "boba/core/spec.h"
#include "boba/rules/registry.h"
#include "boba/text/names.h"
#include "boba/text/split.h"
#include "simulator/experiment/keys.h"
#include "simulator/partition/registry.h"

namespace boba::reproduction {
namespace {

template <class Entries>
std::optional<std::string> default_in(const Entries& entries, std::string_view name,
                                      std::string_view option) {
  for (const auto& entry : entries) {
    if (entry.info.name != name) continue;
    for (const OptionInfo& info : entry.options()) {
      if (info.name == option) return info.default_value;
    }
  }
  return std::nullopt;
}

// The default of an option of a rule, stage, attack or partition.
std::optional<std::string> default_of(std::string_view name, std::string_view option) {
  std::optional<std::string> value = default_in(rules(), name, option);
  if (!value) value = default_in(mix_stages(), name, option);
  if (!value) value = default_in(blend_stages(), name, option);
  if (!value) value = default_in(attacks(), name, option);
  if (!value) value = default_in(sim::partitions(), name, option);
  return value;
}

// Canonical texts have no quotes: "key = value".
std::string key_value(const sim::ResolvedExperiment& experiment, const sim::Key& key) {
  return key.matters(experiment) ? key.print(experiment) : "";
}

bool is_blend(std::string_view name) {
  return std::any_of(blend_stages().begin(), blend_stages().end(),
                     [&](const BlendEntry& entry) { return entry.info.name == name; });
}

std::vector<sim::Override> overrides_of(const PaperGrid& grid, const PaperOptions& options,
                                        Result<void>& state) {
  std::vector<sim::Override> overrides;
  const auto add = [&](const std::vector<std::string>& settings) {
    for (const std::string& setting : settings) {
      auto parsed = sim::parse_override(setting);
      if (!parsed) {
        state = parsed.error();
        return;
      }
      overrides.push_back(*std::move(parsed));
    }
  };
  add(grid.set);
  if (options.quick) add(grid.quick);
  const int seeds = options.seeds > 0 ? options.seeds : options.quick ? 1 : grid.seeds;
  std::vector<int> list(static_cast<std::size_t>(seeds));
  std::iota(list.begin(), list.end(), 1);
  overrides.push_back({"seed", fmt::format("[{}]", fmt::join(list, ","))});
  overrides.insert(overrides.end(), options.overrides.begin(), options.overrides.end());
  return overrides;
}

PaperRun place(const PaperGrid& grid, sim::ResolvedExperiment resolved) {
  PaperRun run{.experiment = std::move(resolved)};
  const sim::ResolvedExperiment& experiment = run.experiment;
  run.dataset = short_name(experiment.data.set);
  run.rule = rule_name(experiment.rule);
  run.attack = short_name(experiment.attack);
  if (!grid.setting.empty()) run.setting = value_at(experiment, grid.setting, grid.default_setting);
  if (!grid.second.empty()) {
    run.second = value_at(experiment, grid.second, grid.default_second);
  }
  return run;
}

bool left_out(const PaperGrid& grid, const PaperRun& run) {
  return std::any_of(grid.without.begin(), grid.without.end(), [&](const std::string& name) {
    return name == run.rule || name == run.attack;
  });
}

// Rules, or attacks, that differ in options alone share a name. If two of them would share a cell,
// each is named by its whole text.
void name_apart(std::vector<PaperRun>& runs, std::string PaperRun::*name,
                std::string sim::Experiment::*text) {
  std::map<std::vector<std::string>, std::string> text_of_cell;
  std::set<std::pair<std::string, std::string>> shared;  // data set and name
  for (const PaperRun& run : runs) {
    const auto [found, first] = text_of_cell.try_emplace(
        {run.dataset, run.rule, run.attack, run.setting, run.second}, run.experiment.*text);
    if (!first && found->second != run.experiment.*text) {
      shared.emplace(run.dataset, run.*name);
    }
  }
  for (PaperRun& run : runs) {
    if (shared.contains({run.dataset, run.*name})) run.*name = run.experiment.*text;
  }
}

Result<void> check_names(const PaperFile& file, const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const PaperGrid& grid : file.grids) known.push_back(grid.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return invalid_argument(
        fmt::format("{} has no grid '{}'; its grids are: {}", file.name, name, join(known)));
  }
  return {};
}

}  // namespace

std::string short_name(std::string_view spec) {
  return std::string(trimmed(spec.substr(0, spec.find('('))));
}

std::string rule_name(std::string_view spec) {
  const auto stages = parse_spec(spec);
  if (!stages) return short_name(spec);
  for (std::size_t i = stages->size(); i-- > 0;) {
    if (i == 0 || !is_blend((*stages)[i].name)) return (*stages)[i].name;
  }
  return short_name(spec);
}

std::string value_at(const sim::ResolvedExperiment& experiment, std::string_view path,
                     const std::string& fallback) {
  if (const sim::Key* key = sim::find_key(path)) {
    const std::string value = key_value(experiment, *key);
    return value.empty() ? fallback : value;
  }
  const std::size_t dot = path.rfind('.');
  const sim::Key* key = dot == path.npos ? nullptr : sim::find_key(path.substr(0, dot));
  if (key == nullptr) return fallback;
  const std::string_view option = path.substr(dot + 1);
  const auto stages = parse_spec(key_value(experiment, *key));
  if (!stages) return fallback;
  for (const Params& stage : *stages) {
    for (const auto& value : stage.values) {
      if (value.first == option) return value.second;
    }
    if (const auto value = default_of(stage.name, option)) return *value;
  }
  return fallback;
}

Result<PaperRuns> expand(const PaperFile& file, const PaperOptions& options) {
  if (Result<void> known = check_names(file, options.grids); !known) return known.error();
  PaperRuns all;
  std::unordered_set<std::string> seen;
  for (const PaperGrid& grid : file.grids) {
    const bool wanted =
        options.grids.empty() ||
        std::find(options.grids.begin(), options.grids.end(), grid.name) != options.grids.end();
    if (!wanted) continue;
    if (options.quick && !grid.has_quick) {
      ++all.grids_left_out;
      continue;
    }
    Result<void> state;
    const std::vector<sim::Override> overrides = overrides_of(grid, options, state);
    if (!state) return state.error();
    auto expanded = sim::load_grid(grid.experiment, overrides);
    if (!expanded) {
      return Error{expanded.error().code,
                   fmt::format("{}, grid {}: {}", file.name, grid.name, expanded.error().message)};
    }
    for (sim::ResolvedExperiment& experiment : expanded->experiments) {
      PaperRun run = place(grid, std::move(experiment));
      if (left_out(grid, run)) continue;
      if (seen.insert(sim::canonical_text(run.experiment)).second) {
        all.runs.push_back(std::move(run));
      }
    }
  }
  name_apart(all.runs, &PaperRun::rule, &sim::Experiment::rule);
  name_apart(all.runs, &PaperRun::attack, &sim::Experiment::attack);
  return all;
}

sim::Grid grid_of(const PaperFile& file, std::span<const PaperRun> runs) {
  sim::Grid grid;
  grid.name = file.name;
  for (const PaperRun& run : runs) grid.experiments.push_back(run.experiment);
  return grid;
}

}  // namespace boba::reproduction
