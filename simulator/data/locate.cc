#include "simulator/data/locate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>

namespace boba::sim {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code trouble;
  return fs::is_regular_file(path, trouble);
}

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<StoredFile> find_choice(const fs::path& folder, const FileChoice& choice) {
  if (!choice.member.empty()) {
    const fs::path path = folder / choice.file;
    if (!is_file(path)) return std::nullopt;
    return StoredFile{.path = path, .member = std::string(choice.member)};
  }
  constexpr std::array<std::string_view, 3> kEndings = {"", ".gz", ".xz"};
  for (std::string_view ending : kEndings) {
    const fs::path path = folder / (std::string(choice.file) + std::string(ending));
    if (is_file(path)) return StoredFile{.path = path};
  }
  return std::nullopt;
}

LocatedGroup look_into(const fs::path& folder, const FileGroup& group) {
  LocatedGroup found;
  found.folder = folder;
  for (const FilePart& part : group.parts) {
    StoredFile file;
    for (const FileChoice& choice : part.choices) {
      const std::optional<StoredFile> here = find_choice(folder, choice);
      if (!here) continue;
      file = *here;
      file.partial = choice.partial;
      break;
    }
    if (file.path.empty()) found.missing.emplace_back(part.role);
    found.files.push_back(std::move(file));
  }
  return found;
}

// The last part of a path that has one: "mnist" of "data/mnist/".
std::string own_name(const fs::path& folder) {
  const fs::path normal = folder.lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

std::vector<fs::path> folders_of(const fs::path& source, const FileGroup& group) {
  std::vector<fs::path> folders;
  for (std::string_view name : group.folders) folders.push_back(source / name);
  if (!contains(group.foreign, own_name(source))) folders.push_back(source);
  return folders;
}

LocatedGroup nothing_of(const FileGroup& group) {
  LocatedGroup nothing;
  nothing.files.resize(group.parts.size());
  for (const FilePart& part : group.parts) nothing.missing.emplace_back(part.role);
  return nothing;
}

// The first folder of the source that holds all parts, or else most of them.
LocatedGroup most_of(const FileGroup& group, const fs::path& source) {
  LocatedGroup best = nothing_of(group);
  for (const fs::path& folder : folders_of(source, group)) {
    LocatedGroup found = look_into(folder, group);
    if (found.missing.size() >= best.missing.size()) continue;
    if (group.is_foreign != nullptr && group.is_foreign(found.files)) continue;
    best = std::move(found);
    if (best.missing.empty()) break;
  }
  return best;
}

bool is_named(const DataSources& sources, std::size_t i) {
  if (i >= sources.origins.size()) return false;
  return sources.origins[i] == kDataOption || sources.origins[i] == kDataVariable;
}

std::string describe(const FileGroup& group, const LocatedGroup& found, const std::string& origin) {
  std::string there;
  for (std::size_t i = 0; i < group.parts.size(); ++i) {
    if (found.files[i].path.empty()) continue;
    there += (there.empty() ? "" : ", ") + std::string(group.parts[i].role);
  }
  return fmt::format("{} ({}) has {}, but no {}", found.folder.string(), origin, there,
                     fmt::join(found.missing, ", "));
}

}  // namespace

LocatedGroup locate(const FileGroup& group, const DataSources& sources) {
  LocatedGroup best = nothing_of(group);
  LocatedGroup passed;  // the first that the user named and that is incomplete
  for (std::size_t i = 0; i < sources.folders.size(); ++i) {
    LocatedGroup here = most_of(group, sources.folders[i]);
    const bool complete = here.missing.empty();
    if (!complete && passed.folder.empty() && !here.folder.empty() && is_named(sources, i)) {
      passed = here;
      passed.passed_over = describe(group, here, sources.origins[i]);
    }
    if (here.missing.size() < best.missing.size()) best = std::move(here);
    if (complete) break;
  }
  if (best.missing.empty() && !passed.folder.empty()) {
    best.passed_over = passed.passed_over;
    best.passed_folder = passed.folder;
  }
  return best;
}

}  // namespace boba::sim
