// Data described once. fields() of a struct names its fields, says what each means and how it is
// read; JSON, Python, text and documentation are loops over it.
//
//   struct Weather {
//     double rain = 0;
//     static constexpr auto fields() {
//       return std::tuple{described("rain", &Weather::rain, "millimetres in the last hour")};
//     }
//   };
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace boba {

// How a field without a value is written. Empty texts and lists, and the count 0, may be one.
enum class Absent {
  kWritten,  // as the empty value
  kNull,     // null in JSON, None in Python
  kLeftOut,  // no key in JSON; None in Python, but for lists of texts
};

// How text shows a field's numbers.
enum class Style {
  kPlain,
  kSteps,    // "3 -> 2 -> 1"
  kPercent,  // "52.0% 48.0%"
};

struct FieldInfo {
  std::string_view name;  // the key in JSON, the attribute in Python
  std::string_view type;  // "flag", "count", "number", "text"; a list of them: "numbers"
  std::string_view meaning;
  Absent absent = Absent::kWritten;
  std::string_view label = {};  // the name in text; empty: text leaves the field out
  Style style = Style::kPlain;
};

// The name of a type. Structs that stand in lists say what a list of them is called.
template <class T>
struct TypeName {};
template <>
struct TypeName<bool> {
  static constexpr std::string_view one = "flag", many = "flags";
};
template <>
struct TypeName<std::size_t> {
  static constexpr std::string_view one = "count", many = "counts";
};
template <>
struct TypeName<double> {
  static constexpr std::string_view one = "number", many = "numbers";
};
template <>
struct TypeName<std::string> {
  static constexpr std::string_view one = "text", many = "texts";
};
template <class T>
struct TypeName<std::optional<T>> : TypeName<T> {};
template <class T>
requires requires { T::kMany; }
struct TypeName<T> {
  static constexpr std::string_view many = T::kMany;
};
template <class T>
struct TypeName<std::vector<T>> {
  static constexpr std::string_view one = TypeName<T>::many;
};

template <class Read>
struct Described : FieldInfo {
  Read read;  // a data member, or a member function without arguments

  constexpr Described if_absent(Absent how) const {
    Described copy = *this;
    copy.absent = how;
    return copy;
  }
  constexpr Described shown_as(std::string_view text, Style how = Style::kPlain) const {
    Described copy = *this;
    copy.label = text;
    copy.style = how;
    return copy;
  }
};

template <class Owner, class T>
constexpr Described<T Owner::*> described(std::string_view name, T Owner::*read,
                                          std::string_view meaning) {
  using Value = std::remove_cvref_t<std::invoke_result_t<T Owner::*, const Owner&>>;
  return {{.name = name, .type = TypeName<Value>::one, .meaning = meaning}, read};
}

// The fields of T, which live forever.
template <class T>
inline constexpr auto kFields = T::fields();

// Calls body(field, value) for each field of the object.
template <class T, class Body>
void each_field(const T& object, Body&& body) {
  std::apply([&](const auto&... field) { (body(field, std::invoke(field.read, object)), ...); },
             kFields<T>);
}

template <class T>
std::vector<FieldInfo> field_infos() {
  return std::apply([](const auto&... field) { return std::vector<FieldInfo>{field...}; },
                    kFields<T>);
}

// Whether there is no value.
template <class T>
bool is_absent(const T& value) {
  if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else {
    return value == T{};
  }
}

}  // namespace boba
