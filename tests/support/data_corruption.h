// Small images for the tests of corruptions.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <vector>

#include "boba/core/random.h"
#include "simulator/data/corruption.h"

namespace boba::testing {
using namespace sim;  // NOLINT

using Image = std::vector<std::uint8_t>;

inline constexpr ImageShape kColour = {.channels = 3, .height = 32, .width = 32};
inline constexpr ImageShape kGrey = {.channels = 1, .height = 28, .width = 28};

// A few waves, 8 to 30 pixels long, in each channel; values from about 40 to 215.
inline Image smooth_image(const ImageShape& shape, std::uint64_t seed) {
  Image image;
  const StreamKey key{.seed = seed, .purpose = Purpose::kSynthetic};
  for (std::size_t k = 0; k < shape.channels; ++k) {
    struct Wave {
      double right = 0;
      double down = 0;
      double phase = 0;
    };
    std::array<Wave, 3> waves;
    for (std::uint64_t i = 0; i < waves.size(); ++i) {
      const std::uint64_t at = 100 * k + 10 * i;
      const double angle = 2 * std::numbers::pi * uniform_at(key, at);
      const double turns = 2 * std::numbers::pi / (8 + 22 * uniform_at(key, at + 1));
      waves[i] = {turns * std::cos(angle), turns * std::sin(angle),
                  2 * std::numbers::pi * uniform_at(key, at + 2)};
    }
    for (std::size_t y = 0; y < shape.height; ++y) {
      for (std::size_t x = 0; x < shape.width; ++x) {
        double sum = 0;
        for (const Wave& wave : waves) {
          sum += std::sin(wave.right * static_cast<double>(x) + wave.down * static_cast<double>(y) +
                          wave.phase);
        }
        image.push_back(static_cast<std::uint8_t>(128 + 29 * sum));
      }
    }
  }
  return image;
}

inline Image corrupted(std::string_view name, int severity, std::uint64_t seed,
                       const ImageShape& shape, Image image) {
  corrupt(name, severity, {.seed = seed, .purpose = Purpose::kCorruption}, shape, image);
  return image;
}

// Of the differences, in grey values.
inline double mean_square(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum / static_cast<double>(a.size());
}

inline double mean(const Image& image) {
  double sum = 0;
  for (const std::uint8_t value : image) sum += value;
  return sum / static_cast<double>(image.size());
}

}  // namespace boba::testing
