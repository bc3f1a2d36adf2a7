// Bytes of a file, or of an archive's member, one after another, unpacked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/data/digest.h"

namespace boba::sim {

// Knows what it is called and where it is, so that every error can say so. Offsets count unpacked
// bytes.
class ByteStream {
 public:
  // Puts the next bytes into its argument and says how many; 0 is the end. Its error says what is
  // wrong, the stream adds where.
  using Fill = std::function<Result<std::size_t>(std::span<std::uint8_t>)>;

  ByteStream(std::string name, Fill fill);
  // REQUIRES: the bytes outlive the stream.
  static ByteStream from_memory(std::string name, std::span<const std::uint8_t> bytes);

  const std::string& name() const { return name_; }
  std::uint64_t offset() const { return offset_; }

  // The bytes at hand, at least one unless the stream is at its end; then consume some of them.
  Result<std::span<const std::uint8_t>> peek();
  void consume(std::size_t count);

  // Fills out as far as the stream goes, and says how far.
  Result<std::size_t> read(std::span<std::uint8_t> out);
  // The same, for what must be there: what is "the header", "pixels".
  Result<void> read_all(std::span<std::uint8_t> out, std::string_view what);
  // No byte is left; what says what the file should have been: "60000 labels".
  Result<void> expect_end(std::string_view what);

  // The size of all of it, where that is known without reading it.
  std::optional<std::uint64_t> size() const { return size_; }
  void set_size(std::uint64_t size) { size_ = size; }

  // From now on every byte given out goes into this checksum, too. REQUIRES: it outlives the use.
  void set_digest(Digest* digest) { digest_ = digest; }

  // "NAME: at byte OFFSET: what".
  Error error_at(std::uint64_t offset, std::string_view what) const;
  Error error_here(std::string_view what) const { return error_at(offset_, what); }

 private:
  std::string name_;
  Fill fill_;
  std::vector<std::uint8_t> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  std::uint64_t offset_ = 0;
  std::optional<std::uint64_t> size_;
  Digest* digest_ = nullptr;
};

}  // namespace boba::sim
