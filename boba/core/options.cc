#include "boba/core/options.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "boba/text/names.h"

namespace boba {
namespace detail {
namespace {

template <class T>
Result<T> read_number(std::string_view key, std::string_view text, double low, double high,
                      std::string_view kind) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status == std::errc::result_out_of_range) {
    return invalid_argument(
        fmt::format("{}={} is outside [{}, {}]", key, text, print_number(low), print_number(high)));
  }
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

Result<int> read_choice(std::string_view key, std::string_view text,
                        std::span<const std::string_view> choices) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == text) return static_cast<int>(i);
  }
  return invalid_argument(fmt::format("{}={} is none of: {}", key, text, join(choices)));
}

Result<void> check_range(std::string_view key, double value, double low, double high) {
  // Written so that NaN fails.
  if (value >= low && value <= high) return {};
  return invalid_argument(fmt::format("{}={} is outside [{}, {}]", key, print_number(value),
                                      print_number(low), print_number(high)));
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
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, "|"));
  const bool below = low == std::numeric_limits<double>::lowest();
  const bool above = high == std::numeric_limits<double>::max();
  if (below && above && word.empty()) return "any";
  return fmt::format("{}..{}{}{}", below ? "" : detail::print_number(low),
                     above ? "" : detail::print_number(high), word.empty() ? "" : "|", word);
}

}  // namespace boba
