#include "boba/core/sketch.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <vector>

#include "boba/core/random.h"
#include "boba/core/spec.h"

namespace boba {

Result<void> check_plan(const SketchPlan& plan) {
  if (!std::has_single_bit(plan.length) || plan.length < 64 || plan.length > 65536) {
    return invalid_argument(
        fmt::format("sketch length {} must be a power of two from 64 to 65536", plan.length));
  }
  if (plan.first % kSketchLine != 0) {
    return invalid_argument(
        fmt::format("sketch from column {}: it must be a multiple of {}", plan.first, kSketchLine));
  }
  return {};
}

void sketch_lines(const SketchPlan& plan, std::size_t first, std::span<SketchLine> lines) {
  const StreamKey key{plan.seed, plan.round, 0, Purpose::kSketch};
  constexpr std::size_t kWords = 4;  // of a block, one per line
  std::array<std::uint32_t, kWords> words = {};
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const std::size_t line = first + k;
    if (k == 0 || line % kWords == 0) words = random_block(key, line / kWords);
    const std::uint32_t word = words[line % kWords];
    lines[k].signs = static_cast<std::uint16_t>(word);
    lines[k].place = static_cast<std::uint16_t>((word >> 16) & (plan.length - 1));
  }
}

Result<std::optional<SketchOptions>> parse_gram(std::string_view spec) {
  const Result<std::vector<Params>> stages = parse_spec(spec);
  if (!stages) return stages.error();
  const Params& stage = stages->front();
  if (stages->size() > 1 || (stage.name != "exact" && stage.name != "sketch")) {
    return invalid_argument(fmt::format(
        "gram is 'exact' or 'sketch(length=4096)', with another length or a seed; got '{}'", spec));
  }
  if (stage.name == "exact") {
    if (stage.values.empty()) return std::optional<SketchOptions>();
    return invalid_argument(fmt::format("gram 'exact' has no options; got '{}'", spec));
  }
  Result<SketchOptions> options = bind<SketchOptions>(stage);
  if (!options) return options.error();
  if (!std::has_single_bit(static_cast<unsigned>(options->length))) {
    return invalid_argument(fmt::format("sketch: length={} is not a power of two; {} is",
                                        options->length,
                                        std::bit_floor(static_cast<unsigned>(options->length))));
  }
  return std::optional<SketchOptions>(*options);
}

std::string print_gram(const std::optional<SketchOptions>& options) {
  return options ? canonical(*options) : "exact";
}

SketchPlan sketch_plan(const SketchOptions& options, std::uint64_t seed, std::uint32_t round) {
  return {.seed = options.seed != 0 ? static_cast<std::uint64_t>(options.seed) : seed,
          .round = round,
          .length = static_cast<std::size_t>(options.length)};
}

}  // namespace boba
