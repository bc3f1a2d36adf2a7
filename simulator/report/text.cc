#include "simulator/report/text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "boba/text/printable.h"

namespace boba::sim::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// "3.00", "73.0", "310": columns of such numbers are easy to compare.
std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

}  // namespace

std::string escape(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    const char c = text[i];
    if (length == 0 || c == '\x7F' || (static_cast<unsigned char>(c) < 0x20 && c != '\n')) {
      safe += c == '\t' ? " " : kReplacement;
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '"') {
      safe += "&quot;";
    } else if (c == '\'') {
      safe += "&#39;";
    } else {
      safe += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return safe;
}

std::string clip(std::string_view text, std::size_t characters) {
  std::size_t count = 0;
  std::size_t cut = 0;  // where the text ends if an ellipsis follows
  for (std::size_t i = 0; i < text.size(); ++count) {
    if (count + 1 == characters) cut = i;
    if (count == characters) return std::string(text.substr(0, cut)) + "…";
    const std::size_t length = utf8_length(text.substr(i));
    i += length == 0 ? 1 : length;
  }
  return std::string(text);
}

std::string number(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f}", 100 * share) : "–";
}

std::string percent(double share, double deviation, std::size_t runs) {
  if (runs < 2 || !std::isfinite(share)) return percent(share);
  return fmt::format("{:.1f} ± {:.1f}", 100 * share, 100 * deviation);
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e12) return "–";
  if (seconds == 0) return "0";
  if (seconds < 999.5e-6) return three_digits(seconds * 1e6) + " µs";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 99.5) return three_digits(seconds) + " s";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string csv_line(std::span<const std::string> cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    if (cells[i].find_first_of(",\"\r\n") == std::string::npos) {
      line += cells[i];
      continue;
    }
    line += '"';
    for (const char letter : cells[i]) {
      if (letter == '"') line += '"';
      line += letter;
    }
    line += '"';
  }
  return line + '\n';
}

}  // namespace boba::sim::report
