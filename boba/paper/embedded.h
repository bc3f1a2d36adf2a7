// The files of experiments/paper as the build put them into the program; see embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace boba::paper {

struct EmbeddedFile {
  std::string_view path;  // "robustness.toml", "published/robustness.csv"
  std::string_view text;
};

// Sorted by path.
std::span<const EmbeddedFile> embedded_files();

// Empty if there is no such file.
std::string_view embedded_text(std::string_view path);

}  // namespace boba::paper
