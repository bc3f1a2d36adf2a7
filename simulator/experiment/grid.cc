#include "simulator/experiment/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <fstream>
#include <unordered_set>
#include <utility>

#include "boba/text/names.h"
#include "boba/text/printable.h"
#include "boba/text/split.h"
#include "simulator/experiment/axes.h"
#include "simulator/experiment/faults.h"

namespace boba::sim {
namespace {

constexpr std::size_t kMostRuns = 20000;
// One byte more than the parser accepts, so that it refuses a larger file.
constexpr std::streamsize kMostRead = (1 << 20) + 1;

Result<std::size_t> count_runs(std::span<const Axis> axes, std::string_view origin) {
  std::size_t runs = 1;
  std::string product;
  for (const Axis& axis : axes) {
    if (axis.values.size() == 1) continue;
    product +=
        fmt::format("{}{} {}", product.empty() ? "" : " x ", axis.values.size(), axis.key->path());
    runs = std::min(runs * axis.values.size(), kMostRuns + 1);
  }
  if (runs <= kMostRuns) return runs;
  return invalid_argument(
      fmt::format("{}: {} are more than {} runs; use fewer values", origin, product, kMostRuns));
}

// The place of the fault: an override of one of its keys, else the first of its keys that the file
// gives. chosen[k] is the value of axis k in the run.
Error locate(const Fault& fault, std::span<const Axis> axes, std::span<const std::size_t> chosen,
             std::string_view origin) {
  for (const bool is_override : {true, false}) {
    for (const std::string& key : fault.keys) {
      for (std::size_t k = 0; k < axes.size(); ++k) {
        if (axes[k].is_override != is_override || axes[k].key->path() != key) continue;
        return placed(axes[k].values[chosen[k]], fault.message);
      }
    }
  }
  return invalid_argument(fmt::format("{}: {}", origin, fault.message));
}

Experiment pick(std::span<const Axis> axes, std::span<const std::size_t> chosen) {
  Experiment experiment;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    // read_axes has seen that every value suits its key.
    const Result<void> read = axes[k].key->read(axes[k].values[chosen[k]].value, experiment);
    assert(read);
    static_cast<void>(read);
  }
  return experiment;
}

// The next combination, the last axis fastest.
void next_combination(std::span<const Axis> axes, std::vector<std::size_t>& chosen) {
  for (std::size_t k = axes.size(); k-- > 0;) {
    if (++chosen[k] < axes[k].values.size()) return;
    chosen[k] = 0;
  }
}

Error unknown_file(const std::string& name) {
  std::vector<std::string_view> names;
  for (const ShippedExperiment& each : shipped_experiments()) names.push_back(each.name);
  const std::string close = suggestion(name, names);
  return {ErrorCode::kIo,
          fmt::format("no file or shipped experiment '{}'{} shipped experiments are: {}",
                      excerpt(name), close.empty() ? ";" : close, join(names))};
}

}  // namespace

Result<Override> parse_override(std::string_view text) {
  const std::size_t at = text.find('=');
  Override result;
  if (at != text.npos) {
    result.key = trimmed(text.substr(0, at));
    result.value = trimmed(text.substr(at + 1));
  }
  if (result.key.empty()) {
    return invalid_argument(
        fmt::format("--set {}: expected KEY=VALUE, such as training.rounds=20", excerpt(text)));
  }
  result.key = excerpt(result.key);
  return result;
}

Result<Grid> parse_grid(std::string_view toml, std::string_view origin, std::string_view name,
                        std::span<const Override> overrides) {
  const Result<std::vector<Axis>> axes = read_axes(toml, origin, overrides);
  if (!axes) return axes.error();
  const Result<std::size_t> runs = count_runs(*axes, origin);
  if (!runs) return runs.error();
  Grid grid;
  grid.name = name;
  std::vector<std::size_t> chosen(axes->size(), 0);
  std::unordered_set<std::string> seen;
  for (std::size_t run = 0; run < *runs; ++run, next_combination(*axes, chosen)) {
    auto checked = resolve_and_check(pick(*axes, chosen));
    if (const Fault* fault = std::get_if<Fault>(&checked)) {
      return locate(*fault, *axes, chosen, origin);
    }
    auto& experiment = std::get<ResolvedExperiment>(checked);
    if (seen.insert(canonical_text(experiment)).second) {
      grid.experiments.push_back(std::move(experiment));
    }
  }
  return grid;
}

Result<Grid> load_grid(const std::string& file_or_name, std::span<const Override> overrides) {
  for (const ShippedExperiment& each : shipped_experiments()) {
    if (each.name != file_or_name) continue;
    return parse_grid(each.toml, fmt::format("experiments/{}.toml", each.name), each.name,
                      overrides);
  }
  const std::filesystem::path path(file_or_name);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Error{ErrorCode::kIo,
                 fmt::format("{}: it is a folder, not an experiment file", excerpt(file_or_name))};
  }
  if (!std::filesystem::exists(path, ignored)) return unknown_file(file_or_name);
  // Opening a pipe would wait for a writer.
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return Error{ErrorCode::kIo,
                 fmt::format("{}: it is not a regular file; write the experiment into one",
                             printable(file_or_name))};
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(kMostRead), '\0');
  file.read(text.data(), kMostRead);
  if (!file.is_open() || file.bad()) {
    return Error{ErrorCode::kIo, fmt::format("{}: cannot be read", excerpt(file_or_name))};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_grid(text, excerpt(file_or_name), path.stem().string(), overrides);
}

}  // namespace boba::sim
