#include "simulator/data/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <string_view>

namespace boba::sim {
namespace {

constexpr std::uint32_t kImageMagic = 0x803;  // unsigned bytes in three dimensions
constexpr std::uint32_t kLabelMagic = 0x801;  // unsigned bytes in one
// More than any set of this format has; a header that states more is wrong or hostile.
constexpr std::uint32_t kMostItems = 1'000'000;
// Memory grows with what arrives, not with what a header promises.
constexpr std::size_t kPiece = std::size_t{1} << 22;

Result<std::uint32_t> read_number(ByteStream& stream, std::string_view what) {
  std::array<std::uint8_t, 4> bytes{};
  if (Result<void> done = stream.read_all(bytes, what); !done) return done.error();
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | bytes[3];
}

std::string_view kind_of(std::uint32_t magic) {
  if (magic == kImageMagic) return " of images";
  if (magic == kLabelMagic) return " of labels";
  return "";
}

Result<std::size_t> read_count(ByteStream& stream, std::uint32_t expected) {
  const Result<std::uint32_t> magic = read_number(stream, "the magic number");
  if (!magic) return magic.error();
  if (*magic != expected) {
    return stream.error_at(0, fmt::format("the magic number is {:08x}{}; expected {:08x}{}", *magic,
                                          kind_of(*magic), expected, kind_of(expected)));
  }
  const Result<std::uint32_t> count = read_number(stream, "the number of items");
  if (!count) return count.error();
  if (*count == 0 || *count > kMostItems) {
    return stream.error_at(
        4, fmt::format("the header states {} items; expected 1 to {}", *count, kMostItems));
  }
  return std::size_t{*count};
}

Result<std::vector<std::uint8_t>> read_bytes(ByteStream& stream, std::size_t size,
                                             std::string_view what) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(size);
  while (bytes.size() < size) {
    const std::size_t begin = bytes.size();
    bytes.resize(std::min(size, begin + kPiece));
    const Result<std::size_t> count = stream.read(std::span(bytes).subspan(begin));
    if (!count) return count.error();
    if (begin + *count == bytes.size()) continue;
    return stream.error_here(
        fmt::format("the file ends; expected {} more bytes of {}", size - begin - *count, what));
  }
  if (Result<void> end = stream.expect_end(what); !end) return end.error();
  return bytes;
}

}  // namespace

Result<std::size_t> read_idx_image_count(ByteStream& stream) {
  return read_count(stream, kImageMagic);
}

Result<std::size_t> read_idx_label_count(ByteStream& stream) {
  return read_count(stream, kLabelMagic);
}

Result<std::vector<std::uint8_t>> read_idx_images(ByteStream& stream, const ImageShape& shape) {
  assert(shape.channels == 1);
  const Result<std::size_t> count = read_idx_image_count(stream);
  if (!count) return count.error();
  const Result<std::uint32_t> height = read_number(stream, "the images' height");
  if (!height) return height.error();
  const Result<std::uint32_t> width = read_number(stream, "the images' width");
  if (!width) return width.error();
  if (*height != shape.height || *width != shape.width) {
    return stream.error_at(8, fmt::format("the header states images of {} x {}; expected {} x {}",
                                          *height, *width, shape.height, shape.width));
  }
  return read_bytes(stream, *count * shape.size(), fmt::format("{} images", *count));
}

Result<std::vector<std::uint8_t>> read_idx_labels(ByteStream& stream, std::size_t classes) {
  const Result<std::size_t> count = read_idx_label_count(stream);
  if (!count) return count.error();
  const std::uint64_t begin = stream.offset();
  Result<std::vector<std::uint8_t>> labels =
      read_bytes(stream, *count, fmt::format("{} labels", *count));
  if (!labels) return labels.error();
  const auto wrong = std::find_if(labels->begin(), labels->end(),
                                  [&](std::uint8_t label) { return label >= classes; });
  if (wrong == labels->end()) return labels;
  return stream.error_at(begin + static_cast<std::uint64_t>(wrong - labels->begin()),
                         fmt::format("label {}; expected 0 to {}", *wrong, classes - 1));
}

}  // namespace boba::sim
