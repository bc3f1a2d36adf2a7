// The binary batches of CIFAR-10: records of one label byte and the bytes of an image, channel by
// channel.
#pragma once

#include "boba/core/result.h"
#include "simulator/data/dataset.h"
#include "simulator/data/stream.h"

namespace boba::sim {

// The whole file, as many records as it has.
Result<Examples> read_cifar_batch(ByteStream& stream, const ImageShape& shape, std::size_t classes);

}  // namespace boba::sim
