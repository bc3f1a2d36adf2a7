// How the benchmark times a round: whole, or from the last arrival on.

#include <fmt/format.h>

#include "boba/core/open_round.h"
#include "boba/kernels/sketch/sketch.h"
#include "tools/bench_rules.h"
#include "tools/measure.h"

namespace boba::tools {
namespace {

constexpr std::uint64_t kSketchSeed = 1;

OpenRoundOptions options_of(const Round& round, const std::optional<SketchOptions>& gram) {
  OpenRoundOptions options;
  options.dtype = round.updates.dtype();
  options.length = round.updates.length();
  for (std::size_t i = 0; i < round.updates.rows(); ++i) {
    options.cohort.push_back(fmt::format("{}", i));
  }
  options.server = round.server;
  options.server_counts.assign(round.server_counts.begin(), round.server_counts.end());
  options.server_whole = round.server_whole;
  options.model = round.model;
  options.learning_rate = round.learning_rate;
  options.oracle = round.oracle;
  options.seed = round.seed;
  options.number = round.number;
  if (gram) options.sketch = sketch_plan(*gram, kSketchSeed, round.number);
  return options;
}

RowList row_of(const UpdateView& rows, std::size_t i) {
  RowList row(rows.dtype(), rows.length());
  row.add(rows, i);
  return row;
}

}  // namespace

Result<double> time_of_round(const Kernels& kernels, const Aggregator& rule, const Round& round,
                             const std::optional<SketchOptions>& gram, MutableRow out) {
  std::unique_ptr<const Kernels> sketched;
  if (gram) {
    auto made = make_sketch_kernels(kernels, sketch_plan(*gram, kSketchSeed, round.number));
    if (!made) return made.error();
    sketched = *std::move(made);
  }
  std::optional<Error> error;
  const double ms = milliseconds([&] {
    const Result<Verdict> verdict = rule.aggregate(sketched ? *sketched : kernels, round, out);
    if (!verdict) error = verdict.error();
  });
  if (error) return *error;
  return ms;
}

Result<double> time_of_close(const Kernels& kernels, const Aggregator& rule, const Round& round,
                             const std::optional<SketchOptions>& gram, MutableRow out) {
  const OpenRoundOptions options = options_of(round, gram);
  const std::vector<std::string> ids = options.cohort;
  Result<OpenRound> open = OpenRound::open(kernels, rule, options);
  if (!open) return open.error();
  const std::size_t last = ids.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    if (Result<void> in = open->adopt(ids[i], row_of(round.updates, i).view()); !in) {
      return in.error();
    }
  }
  const RowList row = row_of(round.updates, last);
  std::optional<Error> error;
  const double ms = milliseconds([&] {
    if (Result<void> in = open->submit(ids[last], row.view()); !in) error = in.error();
    const Result<Verdict> verdict = open->close(0, out);
    if (!verdict) error = verdict.error();
  });
  if (error) return *error;
  return ms;
}

}  // namespace boba::tools
