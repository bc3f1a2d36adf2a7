#include "boba/text/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace boba {
namespace {

constexpr std::size_t kMostShown = 120;

struct CodeRange {
  std::uint32_t first;
  std::uint32_t last;
};

constexpr CodeRange kEscaped[] = {
    {0x00, 0x1F},        // C0
    {0x7F, 0x9F},        // DEL, C1
    {0x00AD, 0x00AD},    // soft hyphen
    {0x061C, 0x061C},    // Arabic letter mark
    {0x180E, 0x180E},    // Mongolian vowel separator
    {0x200B, 0x200F},    // without width; left-to-right and right-to-left marks
    {0x2028, 0x202E},    // line and paragraph separator; embeddings and overrides
    {0x2060, 0x206F},    // word joiner, invisible operators, isolates
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFF9, 0xFFFB},    // interlinear annotation
    {0xE0000, 0xE007F},  // tags
};

std::uint32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  constexpr std::uint32_t kFirstBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t code = first & kFirstBits[character.size()];
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3F);
  return code;
}

bool is_escaped(std::uint32_t code) {
  return std::any_of(std::begin(kEscaped), std::end(kEscaped), [code](const CodeRange& range) {
    return range.first <= code && code <= range.last;
  });
}

// As Python writes it in a string.
std::string escape_of(std::uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  if (code <= 0xFF) return fmt::format("\\x{:02x}", code);
  return code <= 0xFFFF ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
}

// Half a surrogate pair in three bytes: not UTF-8, but Python's strings may hold it.
bool is_surrogate(std::string_view text) {
  return text.size() >= 3 && text[0] == '\xED' && (text[1] & 0xE0) == 0xA0 &&
         (text[2] & 0xC0) == 0x80;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size() || (byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies beyond the last character.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = utf8_length(text);
    if (length == 0) {
      length = is_surrogate(text) ? 3 : 1;
      safe += escape_of(length == 3 ? code_point(text.substr(0, 3))
                                    : static_cast<unsigned char>(text[0]));
    } else if (const std::uint32_t code = code_point(text.substr(0, length)); is_escaped(code)) {
      safe += escape_of(code);
    } else {
      safe += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return safe;
}

std::string excerpt(std::string_view text) {
  if (text.size() <= kMostShown) return printable(text);
  // Not in the middle of a character, which has at most four bytes.
  std::size_t end = kMostShown;
  while (end > kMostShown - 3 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return printable(text.substr(0, end)) + "...";
}

}  // namespace boba
