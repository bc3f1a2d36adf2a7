// A file whose text the build put into the program (cmake/boba_embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace boba {

struct EmbeddedFile {
  std::string_view path;  // relative to the folder that was embedded: "published/robustness.csv"
  std::string_view text;
};

// Empty if no file has this path.
inline std::string_view embedded_text(std::span<const EmbeddedFile> files, std::string_view path) {
  for (const EmbeddedFile& file : files) {
    if (file.path == path) return file.text;
  }
  return {};
}

}  // namespace boba
