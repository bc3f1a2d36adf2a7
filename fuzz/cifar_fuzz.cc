// Batches of CIFAR-10: no bytes may crash the reader, and each record has an image and a label.

#include <cstddef>
#include <cstdint>

#include "fuzz/stream.h"
#include "simulator/data/cifar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace boba;
  using namespace boba::sim;
  constexpr ImageShape kShape = {.channels = 3, .height = 1, .width = 2};
  ByteStream stream = fuzz_stream(data, size);
  const Result<Examples> examples = read_cifar_batch(stream, kShape, 10);
  if (!examples) {
    check_error(examples.error(), size);
    return 0;
  }
  require(examples->count() * (kShape.size() + 1) == size, "records fill the file");
  require(examples->pixels.size() == examples->count() * kShape.size(), "an image for each label");
  for (const std::uint8_t label : examples->labels) require(label < 10, "labels are in range");
  return 0;
}
