#include "simulator/data/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace boba::sim {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;

}  // namespace

ByteStream::ByteStream(std::string name, Fill fill)
    : name_(std::move(name)), fill_(std::move(fill)), buffer_(kBuffer) {}

ByteStream ByteStream::from_memory(std::string name, std::span<const std::uint8_t> bytes) {
  ByteStream stream(std::move(name),
                    [bytes](std::span<std::uint8_t> out) mutable -> Result<std::size_t> {
                      const std::size_t count = std::min(out.size(), bytes.size());
                      std::copy_n(bytes.begin(), count, out.begin());
                      bytes = bytes.subspan(count);
                      return count;
                    });
  stream.set_size(bytes.size());
  return stream;
}

Result<std::span<const std::uint8_t>> ByteStream::peek() {
  if (begin_ == end_ && !ended_) {
    const Result<std::size_t> count = fill_(buffer_);
    if (!count) return error_here(count.error().message);
    begin_ = 0;
    end_ = *count;
    ended_ = end_ == 0;
  }
  return std::span<const std::uint8_t>(buffer_).subspan(begin_, end_ - begin_);
}

void ByteStream::consume(std::size_t count) {
  assert(count <= end_ - begin_);
  if (digest_ != nullptr) digest_->add(std::span(buffer_).subspan(begin_, count));
  begin_ += count;
  offset_ += count;
}

Result<std::size_t> ByteStream::read(std::span<std::uint8_t> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const Result<std::span<const std::uint8_t>> at_hand = peek();
    if (!at_hand) return at_hand.error();
    if (at_hand->empty()) break;
    const std::size_t count = std::min(at_hand->size(), out.size() - done);
    std::memcpy(out.data() + done, at_hand->data(), count);
    consume(count);
    done += count;
  }
  return done;
}

Result<void> ByteStream::read_all(std::span<std::uint8_t> out, std::string_view what) {
  const Result<std::size_t> count = read(out);
  if (!count) return count.error();
  if (*count == out.size()) return {};
  return error_here(
      fmt::format("the file ends; expected {} more bytes of {}", out.size() - *count, what));
}

Result<void> ByteStream::expect_end(std::string_view what) {
  const Result<std::span<const std::uint8_t>> at_hand = peek();
  if (!at_hand) return at_hand.error();
  if (at_hand->empty()) return {};
  return error_here(fmt::format("the file has extra data after {}", what));
}

Error ByteStream::error_at(std::uint64_t offset, std::string_view what) const {
  return {ErrorCode::kIo, fmt::format("{}: at byte {}: {}", name_, offset, what)};
}

}  // namespace boba::sim
