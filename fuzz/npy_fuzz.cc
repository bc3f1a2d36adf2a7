// .npy files: no bytes may crash the reader, and the rows it finds lie inside them.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "fuzz/check.h"
#include "tools/npy.h"

namespace {

// Reads the first and the last element; the address sanitizer watches.
template <class T>
double touch(const std::byte* data, std::size_t elements) {
  T first{};
  T last{};
  std::memcpy(&first, data, sizeof(T));
  std::memcpy(&last, data + (elements - 1) * sizeof(T), sizeof(T));
  return static_cast<double>(first) + static_cast<double>(last);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace boba;
  // A buffer of exactly this size, so that one byte too far is noticed.
  const auto file = std::make_unique<std::byte[]>(size);
  std::memcpy(file.get(), data, size);
  const Result<tools::NpyLayout> layout = tools::parse_npy({file.get(), size}, "fuzz.npy");
  if (!layout) {
    require(layout.error().message.starts_with("fuzz.npy: "), "an error names the file");
    return 0;
  }
  const std::size_t element = layout->dtype == DType::kFloat32 ? sizeof(float) : sizeof(double);
  require(layout->length > 0, "rows have a length");
  require(layout->data_offset % element == 0, "rows are aligned");
  require(layout->data_offset + layout->rows * layout->length * element == size,
          "rows end where the file ends");
  if (layout->rows > 0) {
    volatile double used = visit(layout->dtype, [&]<Element T>(T) {
      return touch<T>(file.get() + layout->data_offset, layout->rows * layout->length);
    });
    static_cast<void>(used);
  }
  // The writer's header says the same, once the data is as long.
  std::string written = tools::npy_header(layout->dtype, layout->rows, layout->length);
  written.append(layout->rows * layout->length * element, '\0');
  const Result<tools::NpyLayout> again =
      tools::parse_npy(std::as_bytes(std::span(written.data(), written.size())), "again.npy");
  require(again.ok() && again->rows == layout->rows && again->length == layout->length &&
              again->dtype == layout->dtype,
          "the writer's header is read back");
  return 0;
}
