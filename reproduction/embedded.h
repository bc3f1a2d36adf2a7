// The files of this folder that are data: experiments, published values, goals, explanations.
#pragma once

#include "boba/files/embedded.h"

namespace boba::reproduction {

// Sorted by path: "explanations.csv", "experiments/robustness.toml", "published/robustness.csv".
std::span<const EmbeddedFile> embedded_files();

// Empty if there is no such file.
inline std::string_view embedded_text(std::string_view path) {
  return boba::embedded_text(embedded_files(), path);
}

}  // namespace boba::reproduction
