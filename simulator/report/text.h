// Text of a page: escaping, clipping, numbers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace boba::sim::report {

// Safe as text and as a quoted attribute of HTML and XML. Bytes that are no UTF-8 and control
// characters become U+FFFD, so that the page stays one whatever the database holds.
std::string escape(std::string_view text);

// At most this many characters, the last an ellipsis if some were left out. Not escaped.
std::string clip(std::string_view text, std::size_t characters);

// A coordinate: at most two decimals, none that are zero.
std::string number(double value);

// 0.9234 -> "92.3". What is not a number gives "–".
std::string percent(double share);
// "92.3 ± 0.4"; without the deviation where there is one run only.
std::string percent(double share, double deviation, std::size_t runs);

// "850 µs", "12.3 ms", "4.56 s", "3 min 20 s", "2 h 05 min".
std::string duration(double seconds);

// A line of RFC 4180, with a newline: cells with commas, quotes or line breaks are quoted.
std::string csv_line(std::span<const std::string> cells);

// "1 run", "3 runs".
std::string counted(std::size_t count, std::string_view noun);

// "a, b and 3 others".
template <class Strings>
std::string listed(const Strings& words, std::size_t most = 8) {
  std::string text;
  std::size_t i = 0;
  for (const auto& word : words) {
    if (i == most && words.size() > most + 1) {
      return text + " and " + std::to_string(words.size() - most) + " others";
    }
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += word;
    ++i;
  }
  return text;
}

}  // namespace boba::sim::report
