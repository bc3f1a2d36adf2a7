// Lists of names in messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace boba {

// "; did you mean krum?" where a candidate is close to the name, else "".
std::string suggestion(std::string_view name, std::span<const std::string_view> candidates);

// "a, b, c".
std::string join(std::span<const std::string_view> names);

}  // namespace boba
