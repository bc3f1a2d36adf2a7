#include "boba/core/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "boba/text/names.h"

namespace boba {
namespace {

constexpr std::size_t kLongestSpec = 4096;

// ASCII whatever the locale.
bool is_printable(char c) { return c >= ' ' && c <= '~'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

bool is_value(char c) {
  return is_printable(c) && c != ' ' && c != ',' && c != '(' && c != ')' && c != '|' && c != '=';
}

// Reads one text from left to right; place() is what an error points at.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool done() const { return at_ == text_.size(); }
  bool take(char c) {
    skip_space();
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  template <class Accept>
  std::string run(Accept accept) {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && accept(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  Error expected(std::string_view what) const {
    // A text with control bytes is not quoted back to a terminal.
    const bool quotable = std::all_of(text_.begin(), text_.end(), is_printable);
    const std::string quoted = quotable ? fmt::format("spec '{}'", text_) : "spec";
    if (done()) {
      return invalid_argument(fmt::format("{}: expected {} at the end", quoted, what));
    }
    const char c = text_[at_];
    if (!is_printable(c)) {
      return invalid_argument(fmt::format("spec: expected {} at character {}, got byte 0x{:02x}",
                                          what, at_ + 1, static_cast<unsigned char>(c)));
    }
    return invalid_argument(
        fmt::format("{}: expected {} at character {}, got '{}'", quoted, what, at_ + 1, c));
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

Result<Params> parse_stage(Reader& in) {
  Params stage;
  stage.name = in.run(is_word);
  if (stage.name.empty()) return in.expected("a name");
  if (!in.take('(')) return stage;
  if (in.take(')')) return stage;
  do {
    std::string key = in.run(is_word);
    if (key.empty()) return in.expected("an option's name");
    if (!in.take('=')) return in.expected(fmt::format("= after {}", key));
    std::string value = in.run(is_value);
    if (value.empty()) return in.expected(fmt::format("a value of {}", key));
    for (const auto& [known, ignored] : stage.values) {
      if (known == key) {
        return invalid_argument(fmt::format("{}: {} is given twice", stage.name, key));
      }
    }
    stage.values.emplace_back(std::move(key), std::move(value));
  } while (in.take(','));
  if (!in.take(')')) return in.expected(", or )");
  return stage;
}

}  // namespace

Result<std::vector<Params>> parse_spec(std::string_view text) {
  if (text.size() > kLongestSpec) {
    return invalid_argument(
        fmt::format("spec: {} characters; at most {} are read", text.size(), kLongestSpec));
  }
  Reader in(text);
  std::vector<Params> stages;
  do {
    Result<Params> stage = parse_stage(in);
    if (!stage) return stage.error();
    stages.push_back(*std::move(stage));
  } while (in.take('|'));
  in.skip_space();
  if (!in.done()) return in.expected("| or the end");
  return stages;
}

Result<Params> parse_single(std::string_view kind, std::string_view text) {
  const Result<std::vector<Params>> stages = parse_spec(text);
  if (!stages) return stages.error();
  if (stages->size() == 1) return stages->front();
  return invalid_argument(
      fmt::format("{} {} takes no stages; got '{}'", kind.front() == 'a' ? "an" : "a", kind, text));
}

Error unknown_name(std::string_view kind, std::string_view name,
                   std::span<const std::string_view> known) {
  const std::string close = suggestion(name, known);
  return invalid_argument(fmt::format("no {} '{}'{} {}s are: {}", kind, name,
                                      close.empty() ? ";" : close, kind, join(known)));
}

std::string print_spec(const Params& stage) {
  std::string text = stage.name;
  for (std::size_t i = 0; i < stage.values.size(); ++i) {
    text +=
        fmt::format("{}{}={}", i == 0 ? "(" : ",", stage.values[i].first, stage.values[i].second);
  }
  return stage.values.empty() ? text : text + ")";
}

std::string print_spec(std::span<const Params> stages) {
  std::string text;
  for (const Params& stage : stages) {
    if (!text.empty()) text += " | ";
    text += print_spec(stage);
  }
  return text;
}

}  // namespace boba
