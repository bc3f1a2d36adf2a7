#include "simulator/data/corruption.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "simulator/data/corruption_parts.h"

namespace boba::sim {
namespace {

// In the order of all_corruptions().
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
  const auto infos = all_corruptions();
  const auto found = std::find_if(infos.begin(), infos.end(),
                                  [&](const CorruptionInfo& info) { return info.name == name; });
  return static_cast<std::size_t>(found - infos.begin());
}

// NaN cannot come of finite images; it would become 0.
std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::lround(std::fmin(std::fmax(value, 0.0F), 1.0F) * 255));
}

}  // namespace

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

}  // namespace boba::sim
