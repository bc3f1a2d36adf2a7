#include "reproduction/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reproduction/results.h"

namespace boba::reproduction {
namespace {

using Seeds = std::map<std::string, std::set<std::uint64_t>>;

// "5", or "1 to 5" where grids differ.
std::string seeds_text(const Seeds& seeds) {
  if (seeds.empty()) return "-";
  std::set<std::size_t> counts;
  for (const auto& entry : seeds) counts.insert(entry.second.size());
  if (counts.size() == 1) return std::to_string(*counts.begin());
  return fmt::format("{} to {}", *counts.begin(), *counts.rbegin());
}

Result<void> count_runs(const PaperFile& file, const PaperOptions& options, const RunIndex* index,
                        PaperProgress& progress) {
  const RunIndex nothing;
  const auto results = collect(file, options, index == nullptr ? nothing : *index, nullptr);
  if (!results) return results.error();
  progress.runs = results->wanted;
  progress.done = results->finished;
  progress.seconds_left = results->seconds_left;
  return {};
}

Result<void> count_measured(const PaperFile& file, const PaperOptions& options,
                            const sim::Store* store, PaperProgress& progress) {
  const auto wanted = count_measurements(file, options);
  if (!wanted) return wanted.error();
  progress.runs = *wanted;
  if (store == nullptr) return {};
  const auto records = wanted_measurements(file, options, *store);
  if (!records) return records.error();
  progress.done = std::min(progress.runs, records->size());
  double spent = 0;
  for (const sim::MeasurementRecord& record : *records) spent += record.seconds;
  if (!records->empty()) {
    progress.seconds_left = spent / static_cast<double>(records->size()) *
                            static_cast<double>(progress.runs - progress.done);
  }
  return {};
}

}  // namespace

std::string picture_config(bool quick) { return fmt::format("quick = {}\n", quick); }

int picture_seeds(const PaperFile& file, const PaperOptions& options) {
  const int seeds = options.seeds > 0 ? options.seeds : options.quick ? 1 : file.seeds;
  return std::max(1, seeds);
}

Result<std::size_t> count_measurements(const PaperFile& file, const PaperOptions& options) {
  if (file.kind == Kind::kPicture) return static_cast<std::size_t>(picture_seeds(file, options));
  const auto expanded = expand(file, options);
  if (!expanded) return expanded.error();
  return expanded->runs.size();
}

Result<std::vector<sim::MeasurementRecord>> wanted_measurements(const PaperFile& file,
                                                                const PaperOptions& options,
                                                                const sim::Store& store) {
  auto records = store.measurements(file.name);
  if (!records) return records.error();
  std::set<std::string> configs;
  if (file.kind == Kind::kPicture) {
    configs.insert(picture_config(options.quick));
    const auto seeds = static_cast<std::uint64_t>(picture_seeds(file, options));
    std::erase_if(*records, [&](const sim::MeasurementRecord& each) { return each.seed > seeds; });
  } else {
    const auto expanded = expand(file, options);
    if (!expanded) return expanded.error();
    for (const PaperRun& run : expanded->runs) configs.insert(sim::canonical_text(run.experiment));
  }
  std::erase_if(*records,
                [&](const sim::MeasurementRecord& each) { return !configs.contains(each.config); });
  return records;
}

Result<std::vector<PaperProgress>> progress_of(std::span<const PaperFile> files,
                                               const PaperOptions& options,
                                               const sim::Store* store) {
  std::optional<RunIndex> index;
  if (store != nullptr) {
    auto read = RunIndex::read(*store);
    if (!read) return read.error();
    index = *std::move(read);
  }
  std::vector<PaperProgress> all;
  for (const PaperFile& file : files) {
    PaperProgress progress;
    progress.name = file.name;
    progress.title = file.title;
    progress.what = file.what;
    const auto expanded = expand(file, options);
    if (!expanded) return expanded.error();
    std::vector<std::string> datasets;
    Seeds seeds;
    for (const PaperRun& run : expanded->runs) {
      seeds[run.dataset].insert(run.experiment.seed);
      if (std::find(datasets.begin(), datasets.end(), run.dataset) == datasets.end()) {
        datasets.push_back(run.dataset);
      }
    }
    progress.datasets = datasets.empty() ? "-" : fmt::format("{}", fmt::join(datasets, ", "));
    progress.seeds = file.kind == Kind::kPicture ? std::to_string(picture_seeds(file, options))
                                                 : seeds_text(seeds);
    const Result<void> counted =
        is_runs(file.kind) ? count_runs(file, options, index ? &*index : nullptr, progress)
                           : count_measured(file, options, store, progress);
    if (!counted) return counted.error();
    all.push_back(std::move(progress));
  }
  return all;
}

}  // namespace boba::reproduction
