// Typed options from untyped text. fields() of an options struct is the single description of its
// options: parsing, checking, printing, help and bindings all come from it.
//
//   struct KrumOptions {
//     int f = 0;
//     static constexpr Info info() { return {.name = "krum", ...}; }
//     static constexpr auto fields() {
//       return std::tuple{field("f", &KrumOptions::f, "Byzantine clients tolerated")
//                             .between(0, 1 << 20)};
//     }
//   };
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "boba/core/result.h"
#include "boba/core/spec.h"

namespace boba {

// What a rule, stage or attack is, for people. Plain sentences; no markup.
struct Info {
  std::string_view name;
  std::string_view summary;    // half a line, for lists
  std::string_view computes;   // what it computes, in a few sentences
  std::string_view condition;  // what it needs to be computed, and what for its guarantee
  std::string_view cost;       // in passes over the updates, and in n-space
  std::string_view citation;
  std::string_view python = {};        // its class there; empty: the name in CamelCase
  std::string_view python_alias = {};  // a second name of the class
};

std::string python_class(const Info& info);

// One option, erased: what help, documentation and bindings show.
struct OptionInfo {
  std::string name;
  std::string type;           // "integer", "number", "choice" or "text"
  std::string default_value;  // as it is written in a spec
  std::string help;
  double low = 0;  // range of a number, both ends included
  double high = 0;
  std::vector<std::string> choices;
  std::string word;  // what a number may also be; empty: nothing

  // "0..1048576", "mean|lower", "-1..1|auto"; empty for a text.
  std::string range() const;
};

// 64-bit whole numbers end where TOML's do.
inline constexpr std::uint64_t kLargestSeed = INT64_MAX;

template <class Options, class T>
struct Field {
  std::string_view name;
  T Options::*member;
  std::string_view help;
  double low = std::numeric_limits<double>::lowest();
  double high = std::numeric_limits<double>::max();
  std::span<const std::string_view> choices = {};
  std::string_view word = {};  // a number's other value, and the number that stands for it
  double meaning = 0;

  constexpr Field between(double from, double to) const {
    Field copy = *this;
    copy.low = from;
    copy.high = to;
    return copy;
  }
  // A word that may stand in a number's place. REQUIRES: number is outside the range.
  constexpr Field or_word(std::string_view text, double number) const {
    static_assert(std::same_as<T, double> || std::same_as<T, int>);
    Field copy = *this;
    copy.word = text;
    copy.meaning = number;
    return copy;
  }
  bool is_word(double value) const { return !word.empty() && value == meaning; }

  // The names of an enum's values 0, 1, ... REQUIRES: names lives forever.
  constexpr Field one_of(std::span<const std::string_view> names) const {
    Field copy = *this;
    copy.choices = names;
    return copy;
  }
};

template <class Options, class T>
constexpr Field<Options, T> field(std::string_view name, T Options::*member,
                                  std::string_view help) {
  static_assert(std::same_as<T, int> || std::same_as<T, double> || std::is_enum_v<T> ||
                std::same_as<T, std::uint64_t> || std::same_as<T, std::string> ||
                std::same_as<T, std::vector<std::string>>);
  Field<Options, T> made{name, member, help};
  if constexpr (std::same_as<T, std::uint64_t>) return made.between(0, 0x1p63);
  return made;
}

namespace detail {

// Each reads one value of the option key; the error quotes the key, the value and what is allowed.
Result<int> read_value(std::string_view key, std::string_view text, double low, double high, int);
Result<double> read_value(std::string_view key, std::string_view text, double low, double high,
                          double);
Result<std::uint64_t> read_value(std::string_view key, std::string_view text, double low,
                                 double high, std::uint64_t);
Result<std::string> read_value(std::string_view key, std::string_view text, double low, double high,
                               const std::string&);
Result<int> read_choice(std::string_view key, std::string_view text,
                        std::span<const std::string_view> choices);
Result<void> check_range(std::string_view key, double value, double low, double high);
Result<void> check_seed(std::string_view key, std::uint64_t value);
// One line of at most 4096 characters.
Result<void> check_text(std::string_view key, std::string_view value);
Error no_choice(std::string_view key, std::string_view value,
                std::span<const std::string_view> choices);
// The same error; where a word would have done too, it says so.
Error or_word(Error error, std::string_view word);
Error unknown_option(std::string_view owner, std::string_view key,
                     std::span<const std::string_view> known);
std::string print_number(double value);

template <class Options, class T>
Result<void> read_field(const Field<Options, T>& f, std::string_view text, Options& options) {
  if constexpr (std::is_enum_v<T>) {
    Result<int> index = read_choice(f.name, text, f.choices);
    if (!index) return index.error();
    options.*f.member = static_cast<T>(*index);
  } else {
    if constexpr (std::same_as<T, double> || std::same_as<T, int>) {
      if (!f.word.empty() && text == f.word) {
        options.*f.member = static_cast<T>(f.meaning);
        return {};
      }
    }
    Result<T> value = read_value(f.name, text, f.low, f.high, T{});
    if (!value) return or_word(value.error(), f.word);
    options.*f.member = *value;
  }
  return {};
}

template <class Options, class T>
std::string print_field(const Field<Options, T>& f, const Options& options) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(f.choices[static_cast<std::size_t>(options.*f.member)]);
  } else if constexpr (std::same_as<T, std::string>) {
    return options.*f.member;
  } else {
    if (f.is_word(static_cast<double>(options.*f.member))) return std::string(f.word);
    if constexpr (std::integral<T>) return std::to_string(options.*f.member);
    return print_number(static_cast<double>(options.*f.member));
  }
}

template <class Options, class T>
Result<void> check_field(const Field<Options, T>& f, const Options& options) {
  const T& value = options.*f.member;
  if constexpr (std::is_enum_v<T>) {
    const auto index = static_cast<std::size_t>(value);
    if (index < f.choices.size()) return {};
    return no_choice(f.name, std::to_string(index), f.choices);
  } else if constexpr (std::same_as<T, std::string>) {
    return check_text(f.name, value);
  } else if constexpr (std::same_as<T, std::uint64_t>) {
    return check_seed(f.name, value);
  } else {
    if (f.is_word(static_cast<double>(value))) return {};
    return check_range(f.name, value, f.low, f.high);
  }
}

// Calls body(field) for each field.
template <class Options, class Body>
void each_field(Body&& body) {
  std::apply([&](const auto&... f) { (body(f), ...); }, Options::fields());
}

}  // namespace detail

// Every option within its range; NaN is not.
template <class Options>
Result<void> check_options(const Options& options) {
  Result<void> result;
  detail::each_field<Options>([&](const auto& f) {
    if (result) result = detail::check_field(f, options);
  });
  if (result) return result;
  return Error{result.error().code,
               std::string(Options::info().name) + ": " + result.error().message};
}

template <class Options>
Result<Options> bind(const Params& params) {
  Options options;
  for (const auto& value : params.values) {
    const std::string& key = value.first;
    bool known = false;
    std::vector<std::string_view> names;
    Result<void> result;
    detail::each_field<Options>([&](const auto& f) {
      names.push_back(f.name);
      if (f.name != key) return;
      known = true;
      result = detail::read_field(f, value.second, options);
    });
    if (!known) return detail::unknown_option(params.name, key, names);
    if (!result) return Error{result.error().code, params.name + ": " + result.error().message};
  }
  return options;
}

// The canonical spelling: options that differ from their defaults, in the order of fields().
template <class Options>
std::string canonical(const Options& options) {
  const Options defaults;
  Params params;
  params.name = Options::info().name;
  detail::each_field<Options>([&](const auto& f) {
    const std::string text = detail::print_field(f, options);
    if (text != detail::print_field(f, defaults)) params.values.emplace_back(f.name, text);
  });
  return print_spec(params);
}

template <class Options>
std::vector<OptionInfo> describe() {
  std::vector<OptionInfo> infos;
  const Options defaults;
  detail::each_field<Options>([&](const auto& f) {
    using T = std::remove_cvref_t<decltype(defaults.*f.member)>;
    OptionInfo info;
    info.name = f.name;
    info.type = std::is_enum_v<T>              ? "choice"
                : std::same_as<T, std::string> ? "text"
                : std::integral<T>             ? "integer"
                                               : "number";
    info.default_value = detail::print_field(f, defaults);
    info.help = f.help;
    info.low = f.low;
    info.high = f.high;
    info.word = f.word;
    for (std::string_view choice : f.choices) info.choices.emplace_back(choice);
    infos.push_back(std::move(info));
  });
  return infos;
}

// How a factory ends: check the options, make the part, name it. Named holds a pointer to the part
// and its canonical spelling.
template <class Named, class Part, class Options>
Result<Named> make_named(const Options& options) {
  if (Result<void> good = check_options(options); !good) return good.error();
  return Named{std::make_shared<Part>(options), canonical(options)};
}

// One line of a registry: what it is, its options, and how it is made from a spec's stage.
template <class Product>
struct Entry {
  Info info;
  std::vector<OptionInfo> (*options)();
  Result<Product> (*make)(const Params& params);
};

// Make is the typed factory: Result<Product> Make(const Options&).
template <class Options, class Product, Result<Product> (*Make)(const Options&)>
constexpr Entry<Product> entry() {
  return {Options::info(), &describe<Options>, [](const Params& params) -> Result<Product> {
            Result<Options> options = bind<Options>(params);
            if (!options) return options.error();
            return Make(*options);
          }};
}

template <class Product>
const Entry<Product>* find_entry(std::span<const Entry<Product>> entries, std::string_view name) {
  for (const Entry<Product>& entry : entries) {
    if (entry.info.name == name) return &entry;
  }
  return nullptr;
}

template <class Product>
std::vector<std::string_view> entry_names(std::span<const Entry<Product>> entries) {
  std::vector<std::string_view> names;
  for (const Entry<Product>& entry : entries) names.push_back(entry.info.name);
  return names;
}

// The product of a spec of one stage. kind: "attack", with its article for errors.
template <class Product>
Result<Product> make_single(std::span<const Entry<Product>> entries, std::string_view kind,
                            std::string_view spec) {
  const Result<Params> stage = parse_single(kind, spec);
  if (!stage) return stage.error();
  if (const Entry<Product>* entry = find_entry(entries, stage->name)) return entry->make(*stage);
  return unknown_name(kind, stage->name, entry_names(entries));
}

}  // namespace boba
