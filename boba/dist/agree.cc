#include <fmt/format.h>

#include <array>

#include "boba/dist/communicator.h"

namespace boba {
namespace {

std::span<std::byte> bytes_of(std::string& text) {
  return std::as_writable_bytes(std::span(text.data(), text.size()));
}

// FNV-1a: enough to notice that machines differ; nobody here is hostile.
std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

std::string broadcast_text(const Communicator& ranks, int root, std::string text) {
  std::array<std::uint64_t, 1> size = {text.size()};
  ranks.broadcast(root, std::as_writable_bytes(std::span(size)));
  text.resize(size[0]);
  ranks.broadcast(root, bytes_of(text));
  return text;
}

Result<void> agree(const Communicator& ranks, const Result<void>& mine) {
  const auto size = static_cast<std::uint64_t>(ranks.size());
  const auto rank = static_cast<std::uint64_t>(ranks.rank());
  // The lowest rank is the largest distance from the end.
  std::array<std::uint64_t, 1> worst = {mine ? 0 : size - rank};
  ranks.all_max(worst);
  if (worst[0] == 0) return {};
  const auto root = static_cast<int>(size - worst[0]);
  Error error{ErrorCode::kInternal, ""};
  if (ranks.rank() == root) {
    error = mine.error();
    if (root != 0) error.message = fmt::format("{}: {}", ranks.name(), error.message);
  }
  std::array<std::uint64_t, 1> code = {static_cast<std::uint64_t>(error.code)};
  ranks.broadcast(root, std::as_writable_bytes(std::span(code)));
  error.code = static_cast<ErrorCode>(code[0]);
  error.message = broadcast_text(ranks, root, std::move(error.message));
  return error;
}

bool all_same(const Communicator& ranks, std::string_view text) {
  const std::uint64_t hash = digest(text);
  // The largest of a number and of its complement tell the largest and the smallest.
  std::array<std::uint64_t, 2> ends = {hash, ~hash};
  ranks.all_max(ends);
  return ends[0] == ~ends[1];
}

}  // namespace boba
