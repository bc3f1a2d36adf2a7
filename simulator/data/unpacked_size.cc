// The sizes that .gz and .xz files state at their ends, for counting examples without unpacking.

#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "simulator/data/archive.h"

namespace boba::sim {
namespace {

constexpr std::uint64_t kFooter = 12;          // of an .xz stream
constexpr std::uint64_t kMostIndex = 1 << 20;  // bytes; one block has about ten
constexpr std::uint64_t kMostSize = 1ULL << 40;

std::vector<std::uint8_t> bytes_at(std::ifstream& file, std::uint64_t offset, std::uint64_t count) {
  std::vector<std::uint8_t> bytes(count);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
  if (!file) bytes.clear();
  return bytes;
}

std::uint32_t little_endian(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

// A number in groups of seven bits, the lowest first.
std::optional<std::uint64_t> variable_number(const std::vector<std::uint8_t>& bytes,
                                             std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 63 && at < bytes.size(); shift += 7) {
    const std::uint8_t byte = bytes[at++];
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

// The index before the footer lists packed and unpacked size of each block.
std::optional<std::uint64_t> xz_size(std::ifstream& file, std::uint64_t length) {
  if (length < 2 * kFooter) return std::nullopt;
  const std::vector<std::uint8_t> footer = bytes_at(file, length - kFooter, kFooter);
  if (footer.empty() || footer[10] != 'Y' || footer[11] != 'Z') return std::nullopt;
  const std::uint64_t size = (std::uint64_t{little_endian(&footer[4])} + 1) * 4;
  if (size > kMostIndex || size > length - 2 * kFooter) return std::nullopt;
  const std::vector<std::uint8_t> index = bytes_at(file, length - kFooter - size, size);
  if (index.empty() || index[0] != 0) return std::nullopt;
  std::size_t at = 1;
  const auto blocks = variable_number(index, at);
  if (!blocks || *blocks > size) return std::nullopt;
  std::uint64_t total = 0;
  std::uint64_t packed = kFooter + size + kFooter;
  for (std::uint64_t i = 0; i < *blocks; ++i) {
    const auto block = variable_number(index, at);
    const auto unpacked = variable_number(index, at);
    if (!block || !unpacked || *block > kMostSize || *unpacked > kMostSize) return std::nullopt;
    packed += (*block + 3) / 4 * 4;
    total += *unpacked;
    if (total > kMostSize) return std::nullopt;
  }
  // More bytes than this stream has: there are several, whose sizes would have to be added.
  if (packed != length) return std::nullopt;
  return total;
}

}  // namespace

std::optional<std::uint64_t> unpacked_size(const std::filesystem::path& path) {
  std::error_code trouble;
  const std::uint64_t length = std::filesystem::file_size(path, trouble);
  if (trouble) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const std::vector<std::uint8_t> start = bytes_at(file, 0, length < 6 ? length : 6);
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.starts_with("\x1f\x8b")) {
    if (length < 18) return std::nullopt;
    const std::vector<std::uint8_t> end = bytes_at(file, length - 4, 4);
    if (end.empty()) return std::nullopt;
    return little_endian(end.data());
  }
  if (text.starts_with("\xfd"
                       "7zXZ"))
    return xz_size(file, length);
  return length;
}

}  // namespace boba::sim
