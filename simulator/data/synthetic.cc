#include "simulator/data/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boba/core/random.h"
#include "simulator/data/digest.h"

namespace boba::sim {
namespace {

constexpr double kMostBytes = 1 << 30;
constexpr double kSpread = 48;  // standard deviation of a pixel, in grey levels

// Which numbers of the stream are for what.
enum Stream : std::uint32_t { kPatterns, kTrain, kTest };

// An image that wraps around at its edges, with mean 0 and variance 1: the means of 3 x 3 random
// numbers around each pixel. Sums only, so every machine gives the same bytes.
std::vector<double> pattern_of(std::uint32_t label, std::size_t side) {
  const StreamKey key{.round = kPatterns, .client = label, .purpose = Purpose::kData};
  std::vector<double> pattern(side * side);
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      for (std::size_t k = 0; k < 9; ++k) {
        const std::size_t row = (y + k / 3) % side;
        const std::size_t column = (x + k % 3) % side;
        pattern[y * side + x] += uniform_at(key, row * side + column);
      }
    }
  }
  double mean = 0;
  for (double value : pattern) mean += value / static_cast<double>(pattern.size());
  double variance = 0;
  for (double& value : pattern) {
    value -= mean;
    variance += value * value / static_cast<double>(pattern.size());
  }
  for (double& value : pattern) value /= std::sqrt(variance);
  return pattern;
}

void draw_image(const StreamKey& key, std::span<const double> pattern, std::size_t side,
                double noise, std::span<std::uint8_t> out) {
  const std::size_t count = pattern.size();
  // Numbers beyond those of the pixels.
  const auto down = static_cast<std::size_t>(3 * uniform_at(key, count));
  const auto right = static_cast<std::size_t>(3 * uniform_at(key, count + 1));
  const double contrast = 0.5 + uniform_at(key, count + 2);
  const double scale = kSpread / std::sqrt(1 + noise * noise);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t y = (i / side + down) % side;
    const std::size_t x = (i % side + right) % side;
    const double value = contrast * pattern[y * side + x] + noise * normal_at(key, i);
    out[i] = static_cast<std::uint8_t>(std::clamp(std::floor(128 + scale * value), 0.0, 255.0));
  }
}

Examples draw(const SyntheticSetOptions& options, Stream stream, int count,
              std::span<const std::vector<double>> patterns) {
  const auto side = static_cast<std::size_t>(options.side);
  const std::size_t size = side * side;
  Examples examples;
  examples.pixels.resize(static_cast<std::size_t>(count) * size);
  examples.labels.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < examples.count(); ++i) {
    const std::size_t label = i % patterns.size();
    const StreamKey key{
        .round = stream, .client = static_cast<std::uint32_t>(i), .purpose = Purpose::kData};
    draw_image(key, patterns[label], side, options.noise,
               std::span(examples.pixels).subspan(i * size, size));
    examples.labels[i] = static_cast<std::uint8_t>(label);
  }
  return examples;
}

// Four decimals, as the published sets have them: a last digit that machines round differently
// would be another data set.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

// Mean and standard deviation of all pixels between 0 and 1. The sums are of whole numbers, exact.
void measure(Dataset& data) {
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
  for (std::uint64_t pixel : data.train.pixels) {
    sum += pixel;
    squares += pixel * pixel;
  }
  const auto count = static_cast<double>(data.train.pixels.size());
  const double mean = static_cast<double>(sum) / count;
  const double variance = static_cast<double>(squares) / count - mean * mean;
  data.mean = {rounded(mean / 255)};
  // Patterns vary, but rounding and a single image need not.
  data.deviation = {rounded(std::sqrt(std::max(variance, 1.0)) / 255)};
}

}  // namespace

Result<void> check_synthetic(const SyntheticSetOptions& options) {
  if (Result<void> ranges = check_options(options); !ranges) return ranges;
  for (const int count : {options.train, options.test}) {
    if (count >= options.classes) continue;
    return invalid_argument(fmt::format("synthetic: {} examples for {} classes; expected one each",
                                        count, options.classes));
  }
  const double bytes =
      (static_cast<double>(options.train) + options.test) * options.side * options.side;
  if (bytes <= kMostBytes) return {};
  return invalid_argument(
      fmt::format("synthetic: {} bytes of images; expected at most {}", bytes, kMostBytes));
}

Result<Dataset> make_synthetic(const SyntheticSetOptions& options) {
  if (Result<void> sound = check_synthetic(options); !sound) return sound.error();
  Dataset data;
  data.name = canonical(options);
  data.kind = DataKind::kImages;
  const auto side = static_cast<std::size_t>(options.side);
  data.image = {.channels = 1, .height = side, .width = side};
  std::vector<std::vector<double>> patterns;
  for (int label = 0; label < options.classes; ++label) {
    data.classes.push_back(fmt::format("{}", label));
    patterns.push_back(pattern_of(static_cast<std::uint32_t>(label), side));
  }
  data.train = draw(options, kTrain, options.train, patterns);
  data.test = draw(options, kTest, options.test, patterns);
  measure(data);
  data.checksum = checksum_of(data);
  return data;
}

}  // namespace boba::sim
