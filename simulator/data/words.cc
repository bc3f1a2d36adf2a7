#include "simulator/data/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "simulator/data/dataset.h"

namespace boba::sim {
namespace {

constexpr std::size_t kMostLine = std::size_t{1} << 16;
constexpr std::size_t kMostLines = 20'000'000;

enum class Kind : std::uint8_t { kSpace, kWord, kMark };

// By byte, so that no locale has a say.
constexpr std::array<Kind, 256> kKinds = [] {
  std::array<Kind, 256> kinds{};
  for (std::size_t c = 0; c < 256; ++c) {
    const bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    kinds[c] = word || c > 127 ? Kind::kWord : c <= ' ' || c == 127 ? Kind::kSpace : Kind::kMark;
  }
  return kinds;
}();

Kind kind_of(char c) { return kKinds[static_cast<unsigned char>(c)]; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Calls body(line, offset) with each line, without its end.
template <class Body>
Result<void> each_line(ByteStream& stream, Body&& body) {
  std::string carried;  // the start of a line whose end has not come
  std::uint64_t begin = 0;
  while (true) {
    const auto at_hand = stream.peek();
    if (!at_hand) return at_hand.error();
    if (at_hand->empty()) return carried.empty() ? Result<void>() : body(carried, begin);
    const std::string_view block(reinterpret_cast<const char*>(at_hand->data()), at_hand->size());
    const std::size_t end = std::min(block.find('\n'), block.size());
    if (carried.size() + end > kMostLine) {
      return stream.error_at(begin, fmt::format("a line of more than {} bytes", kMostLine));
    }
    const bool whole = end < block.size();
    if (!whole || !carried.empty()) carried.append(block.substr(0, end));
    if (whole) {
      const std::string_view line = carried.empty() ? block.substr(0, end) : carried;
      if (Result<void> done = body(line, begin); !done) return done;
      carried.clear();
    }
    stream.consume(whole ? end + 1 : end);
    if (whole) begin = stream.offset();
  }
}

// Where the number ends; null if it is none or not finite. A number that is too small for a float
// is nearly zero, and zero will do.
const char* read_float(const char* at, const char* end, float& value) {
  // from_chars takes no plus.
  if (end - at > 1 && at[0] == '+' && at[1] != '-') ++at;
  const std::from_chars_result read = std::from_chars(at, end, value);
  if (read.ec == std::errc()) return std::isfinite(value) ? read.ptr : nullptr;
  if (read.ec != std::errc::result_out_of_range) return nullptr;
  double wide = 0;
  const bool in_range = std::from_chars(at, end, wide).ec == std::errc();
  const std::string_view text(at, static_cast<std::size_t>(read.ptr - at));
  const bool small =
      in_range ? std::abs(wide) < 1 : text.find("e-") != text.npos || text.find("E-") != text.npos;
  if (!small) return nullptr;
  value = static_cast<float>(wide);
  return read.ptr;
}

// Reads the numbers of one line. Returns the fault, or "".
std::string read_numbers(std::string_view text, std::size_t length, std::vector<float>& out) {
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at != ' ') return fmt::format("'{}' in a number", *at);
    while (at != end && *at == ' ') ++at;
    if (at == end) break;
    const std::string_view rest(at, static_cast<std::size_t>(end - at));
    float value = 0;
    const char* const behind = read_float(at, end, value);
    if (behind == nullptr) {
      return fmt::format("'{}' is not a finite number", rest.substr(0, rest.find(' ')));
    }
    at = behind;
    if (++count <= length) out.push_back(value);
  }
  return count == length ? "" : fmt::format("{} numbers; expected {}", count, length);
}

// Appends the numbers of the lines whose word is wanted to vectors; how many lines there are.
template <class Wants>
Result<std::size_t> read_lines(ByteStream& stream, std::size_t length, Wants&& wants,
                               std::vector<float>& vectors) {
  std::size_t lines = 0;
  const auto take = [&](std::string_view line, std::uint64_t offset) -> Result<void> {
    if (++lines > kMostLines) {
      return stream.error_at(offset, fmt::format("more than {} lines", kMostLines));
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t space = line.find(' ');
    const bool wanted = wants(line.substr(0, space));
    // The first line tells whether this is a file of vectors at all.
    if (!wanted && lines > 1) return {};
    const std::size_t before = vectors.size();
    const std::string_view numbers = space == line.npos ? "" : line.substr(space);
    const std::string wrong = read_numbers(numbers, length, vectors);
    if (!wrong.empty()) return stream.error_at(offset, fmt::format("line {}: {}", lines, wrong));
    if (!wanted) vectors.resize(before);
    return {};
  };
  if (Result<void> done = each_line(stream, take); !done) return done.error();
  if (lines == 0) return stream.error_here("the file is empty; expected vectors of words");
  return lines;
}

}  // namespace

void Vocabulary::tokenize(std::string_view text, std::size_t limit,
                          std::vector<std::int32_t>& out) {
  std::size_t i = 0;
  while (i < text.size() && out.size() < limit) {
    const Kind kind = kind_of(text[i]);
    if (kind == Kind::kSpace) {
      ++i;
      continue;
    }
    word_.assign(1, lower(text[i++]));
    while (kind == Kind::kWord && i < text.size() && kind_of(text[i]) == Kind::kWord) {
      const char c = lower(text[i++]);
      if (word_.size() <= kLongestWord) word_ += c;
    }
    out.push_back(number_of(word_));
  }
}

std::int32_t Vocabulary::number_of(std::string_view word) {
  if (word.size() > kLongestWord) return kUnknown;
  const auto known = numbers_.find(word);
  if (known != numbers_.end()) return known->second;
  if (numbers_.size() >= most_words_) {
    overflowed_ = true;
    return kUnknown;
  }
  const auto number = static_cast<std::int32_t>(numbers_.size());
  numbers_.emplace(word, number);
  return number;
}

std::int32_t Vocabulary::find(std::string_view word) const {
  const auto known = numbers_.find(word);
  return known == numbers_.end() ? -1 : known->second;
}

Result<WordVectors> read_vectors(ByteStream& stream, std::size_t length,
                                 const Vocabulary& vocabulary) {
  WordVectors result;
  result.vectors.assign(2 * length, 0);
  result.row_of.assign(vocabulary.size(), kUnknownWord);
  std::int32_t rows = 2;
  const auto wants = [&](std::string_view word) {
    const std::int32_t number = vocabulary.find(word);
    if (number < 0) return false;
    std::int32_t& row = result.row_of[static_cast<std::size_t>(number)];
    if (row != kUnknownWord) return false;
    row = rows++;
    return true;
  };
  const Result<std::size_t> lines = read_lines(stream, length, wants, result.vectors);
  if (!lines) return lines.error();
  return result;
}

Result<std::size_t> check_vectors(ByteStream& stream, std::size_t length) {
  std::vector<float> vectors;
  const auto wants = [&](std::string_view) {
    vectors.clear();
    return true;
  };
  return read_lines(stream, length, wants, vectors);
}

}  // namespace boba::sim
