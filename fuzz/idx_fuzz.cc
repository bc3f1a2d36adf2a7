// idx files: no bytes may crash the readers, and what is read has the size that the header states.

#include <cstddef>
#include <cstdint>

#include "fuzz/stream.h"
#include "simulator/data/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace boba;
  using namespace boba::sim;
  constexpr ImageShape kShape = {.channels = 1, .height = 2, .width = 3};
  ByteStream images_stream = fuzz_stream(data, size);
  const auto images = read_idx_images(images_stream, kShape);
  if (images) {
    require(images->size() + 16 == size, "images fill the file");
  } else {
    check_error(images.error(), size);
  }
  ByteStream labels_stream = fuzz_stream(data, size);
  const auto labels = read_idx_labels(labels_stream, 10);
  if (!labels) {
    check_error(labels.error(), size);
    return 0;
  }
  require(labels->size() + 8 == size, "labels fill the file");
  for (const std::uint8_t label : *labels) require(label < 10, "labels are in range");
  return 0;
}
