// The idx format of MNIST and its like: a magic number, the sizes, then unsigned bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "boba/core/result.h"
#include "simulator/data/dataset.h"
#include "simulator/data/stream.h"

namespace boba::sim {

// How many items the header states, after checking its magic number; reads no further.
Result<std::size_t> read_idx_image_count(ByteStream& stream);
Result<std::size_t> read_idx_label_count(ByteStream& stream);

// The whole file. Images have one channel.
Result<std::vector<std::uint8_t>> read_idx_images(ByteStream& stream, const ImageShape& shape);
Result<std::vector<std::uint8_t>> read_idx_labels(ByteStream& stream, std::size_t classes);

}  // namespace boba::sim
