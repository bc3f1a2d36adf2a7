// The common corruptions of images at severities 1 to 5, by name.
//
// D. Hendrycks, T. Dietterich. Benchmarking Neural Network Robustness to Common Corruptions and
// Perturbations. ICLR 2019.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "boba/core/random.h"
#include "boba/core/result.h"
#include "simulator/data/dataset.h"

namespace boba::sim {

struct CorruptionInfo {
  std::string_view name;     // "gaussian-noise"
  std::string_view summary;  // half a line
};

// The fifteen, in the paper's order.
std::span<const CorruptionInfo> common_corruptions();
// Those, and the ones that only server data use: speckle-noise.
std::span<const CorruptionInfo> all_corruptions();

Result<void> check_corruption(std::string_view name, int severity);

// Changes one image in place. The result depends on the name, the severity, the key and the image
// only; images that shall differ in their noise need different keys. Three channels are red, green
// and blue; any other number of them is so many grey images under the same weather.
// REQUIRES: check_corruption(name, severity), one image of the shape, and sides of 1 to 65500.
void corrupt(std::string_view name, int severity, const StreamKey& key, const ImageShape& shape,
             std::span<std::uint8_t> image);

}  // namespace boba::sim
