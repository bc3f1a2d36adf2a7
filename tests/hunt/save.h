// Scenes as files: .npy for the rows, round.txt for the rest.
#pragma once

#include <filesystem>
#include <string>

#include "tests/hunt/judge.h"
#include "tests/hunt/scene.h"

namespace boba::hunt {

// Throws where a file cannot be written, or read.
void save(const Scene& scene, const Judgement& judgement, const std::filesystem::path& folder);
Scene load(const std::filesystem::path& folder);

// How `boba aggregate` repeats it, for rules that need no loss.
std::string command_of(const Scene& scene, const std::filesystem::path& folder);

}  // namespace boba::hunt
