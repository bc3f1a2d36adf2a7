// The files experiments/*.toml as the build put them into the program; see embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace boba {

struct EmbeddedFile {
  std::string_view name;  // without .toml
  std::string_view text;
};

// Sorted by name.
std::span<const EmbeddedFile> embedded_experiments();

}  // namespace boba
