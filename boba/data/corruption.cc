#include "boba/data/corruption.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "boba/core/spec.h"
#include "boba/data/corruption_parts.h"

namespace boba {
namespace {

constexpr int kMostSeverity = 5;
constexpr std::size_t kCommon = 15;

constexpr std::array<CorruptionInfo, 16> kInfos = {{
    {"gaussian-noise", "normal noise on every value"},
    {"shot-noise", "as if few photons had been counted"},
    {"impulse-noise", "some values black or full"},
    {"defocus-blur", "blur of a lens out of focus"},
    {"glass-blur", "neighbouring pixels mixed up, as behind frosted glass"},
    {"motion-blur", "blur along a line"},
    {"zoom-blur", "blur away from the centre"},
    {"snow", "white streaks, and a whiter image"},
    {"frost", "a pane with ice crystals in front"},
    {"fog", "a cloud in front"},
    {"brightness", "lighter"},
    {"contrast", "closer to the mean"},
    {"elastic-transform", "stretched and bent"},
    {"pixelate", "fewer, larger pixels"},
    {"jpeg-compression", "stored as JPEG of low quality"},
    {"speckle-noise", "normal noise in proportion to the value"},
}};

// In the order of kInfos.
constexpr std::array<Effect, 16> kEffects = {gaussian_noise,
                                             shot_noise,
                                             impulse_noise,
                                             defocus_blur,
                                             glass_blur,
                                             motion_blur,
                                             zoom_blur,
                                             snow,
                                             frost,
                                             fog,
                                             brightness,
                                             contrast,
                                             elastic_transform,
                                             pixelate,
                                             jpeg_compression,
                                             speckle_noise};

std::size_t index_of(std::string_view name) {
  const auto found = std::find_if(kInfos.begin(), kInfos.end(),
                                  [&](const CorruptionInfo& info) { return info.name == name; });
  return static_cast<std::size_t>(found - kInfos.begin());
}

// NaN cannot come of finite images; it would become 0.
std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::lround(std::fmin(std::fmax(value, 0.0F), 1.0F) * 255));
}

}  // namespace

std::span<const CorruptionInfo> common_corruptions() { return std::span(kInfos).first(kCommon); }

std::span<const CorruptionInfo> all_corruptions() { return kInfos; }

Result<void> check_corruption(std::string_view name, int severity) {
  if (index_of(name) == kInfos.size()) {
    std::vector<std::string_view> names;
    names.reserve(kInfos.size());
    for (const CorruptionInfo& info : kInfos) names.push_back(info.name);
    const std::string close = suggestion(name, names);
    return invalid_argument(fmt::format("no corruption '{}'{} corruptions are: {}", name,
                                        close.empty() ? ";" : close, join(names)));
  }
  if (severity < 1 || severity > kMostSeverity) {
    return invalid_argument(
        fmt::format("{} has severities 1 to {}; got {}", name, kMostSeverity, severity));
  }
  return {};
}

void corrupt(std::string_view name, int severity, const StreamKey& key, const ImageShape& shape,
             std::span<std::uint8_t> image) {
  assert(check_corruption(name, severity));
  assert(image.size() == shape.size() && shape.size() > 0);
  const int rows = static_cast<int>(shape.height);
  const int cols = static_cast<int>(shape.width);
  const std::size_t area = shape.height * shape.width;
  Planes planes;
  for (std::size_t k = 0; k < shape.channels; ++k) {
    std::size_t i = k * area;
    for (float& value : planes.emplace_back(rows, cols)) {
      value = static_cast<float>(image[i++]) / 255;
    }
  }
  Draws draws(key);
  kEffects[index_of(name)](severity, draws, planes);
  for (std::size_t k = 0; k < shape.channels; ++k) {
    std::size_t i = k * area;
    for (const float value : planes[k]) image[i++] = to_byte(value);
  }
}

}  // namespace boba
