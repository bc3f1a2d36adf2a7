#include "boba/core/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "boba/text/names.h"
#include "boba/text/printable.h"
namespace boba {
namespace detail {
namespace {

constexpr std::size_t kLongestText = 4096;

// The end of a range; that of 64-bit numbers is no double.
std::string print_end(double value) {
  return value == 0x1p63 ? std::to_string(kLargestSeed) : print_number(value);
}

Error outside(std::string_view key, std::string_view value, double low, double high) {
  return invalid_argument(
      fmt::format("{}={} is outside [{}, {}]", key, value, print_end(low), print_end(high)));
}

bool is_control(char c) { return (c >= 0 && c < ' ') || c == 127; }

template <class T>
Result<T> read_number(std::string_view key, std::string_view text, double low, double high,
                      std::string_view kind) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status == std::errc::result_out_of_range) return outside(key, text, low, high);
  if (status != std::errc() || stop != end) {
    return invalid_argument(fmt::format("{}={} is not {}", key, text, kind));
  }
  Result<void> in_range = check_range(key, static_cast<double>(value), low, high);
  if (!in_range) return in_range.error();
  return value;
}

}  // namespace

Result<int> read_value(std::string_view key, std::string_view text, double low, double high, int) {
  return read_number<int>(key, text, low, high, "a whole number");
}

Result<double> read_value(std::string_view key, std::string_view text, double low, double high,
                          double) {
  return read_number<double>(key, text, low, high, "a number");
}

Result<std::uint64_t> read_value(std::string_view key, std::string_view text, double low,
                                 double high, std::uint64_t) {
  const auto value = read_number<std::int64_t>(key, text, low, high, "a whole number");
  if (!value) return value.error();
  return static_cast<std::uint64_t>(*value);
}

Result<std::string> read_value(std::string_view key, std::string_view text, double, double,
                               const std::string&) {
  if (Result<void> good = check_text(key, text); !good) return good.error();
  return std::string(text);
}

Result<int> read_choice(std::string_view key, std::string_view text,
                        std::span<const std::string_view> choices) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == text) return static_cast<int>(i);
  }
  return no_choice(key, text, choices);
}

Error no_choice(std::string_view key, std::string_view value,
                std::span<const std::string_view> choices) {
  return invalid_argument(fmt::format("{}={} is none of: {}{}", key, excerpt(value), join(choices),
                                      suggestion(value, choices)));
}

Result<void> check_range(std::string_view key, double value, double low, double high) {
  // Written so that NaN fails.
  if (value >= low && value <= high) return {};
  return outside(key, print_number(value), low, high);
}

Result<void> check_seed(std::string_view key, std::uint64_t value) {
  if (value <= kLargestSeed) return {};
  return outside(key, std::to_string(value), 0, 0x1p63);
}

Result<void> check_text(std::string_view key, std::string_view value) {
  if (value.size() > kLongestText) {
    return invalid_argument(
        fmt::format("{} has {} characters; at most {}", key, value.size(), kLongestText));
  }
  if (std::any_of(value.begin(), value.end(), is_control)) {
    return invalid_argument(
        fmt::format("{} has a control character or a line end: '{}'", key, excerpt(value)));
  }
  return {};
}

Error or_word(Error error, std::string_view word) {
  if (!word.empty()) error.message += fmt::format("; it may also be {}", word);
  return error;
}

Error unknown_option(std::string_view owner, std::string_view key,
                     std::span<const std::string_view> known) {
  if (known.empty())
    return invalid_argument(fmt::format("{} takes no options; got {}", owner, key));
  return invalid_argument(
      fmt::format("{}: no option {}; options are: {}", owner, key, join(known)));
}

std::string print_number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

}  // namespace detail

std::string python_class(const Info& info) {
  if (!info.python.empty()) return std::string(info.python);
  std::string made;
  bool first = true;
  for (const char c : info.name) {
    if (c != '-') made += first && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    first = c == '-';
  }
  return made;
}

std::string OptionInfo::range() const {
  if (type == "text") return "";
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, "|"));
  const bool below = low == std::numeric_limits<double>::lowest();
  const bool above = high == std::numeric_limits<double>::max();
  if (below && above && word.empty()) return "any";
  return fmt::format("{}..{}{}{}", below ? "" : detail::print_number(low),
                     above ? "" : detail::print_end(high), word.empty() ? "" : "|", word);
}

}  // namespace boba
