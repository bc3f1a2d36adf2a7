// Where the files of a data set may lie, and where they do.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/data/archive.h"
#include "simulator/data/catalogue.h"

namespace boba::sim {

// Origins of sources that the user named.
inline constexpr std::string_view kDataOption = "--data";
inline constexpr std::string_view kDataVariable = "BOBA_DATA";

// One way to keep a file: under a name, to which .gz or .xz may be added, or inside an archive.
struct FileChoice {
  std::string_view file;
  std::string_view member = "";  // then file is the archive's whole name
  bool partial = false;          // it holds a part of the examples only
};

// One file that a set needs; the first choice that exists is taken.
struct FilePart {
  std::string_view role;  // "training images"
  std::span<const FileChoice> choices;
};

// Files that must lie in one folder.
struct FileGroup {
  // Folders that may hold them, below a source; a source may also hold them itself.
  std::span<const std::string_view> folders;
  std::span<const FilePart> parts;
  // Folder names that say that files of these names are another set's.
  std::span<const std::string_view> foreign = {};
  // Looks into the files, whether they are another set's; null: names tell.
  bool (*is_foreign)(std::span<const StoredFile> files) = nullptr;
};

struct LocatedGroup {
  std::filesystem::path folder;      // empty: no file of the group was found anywhere
  std::vector<StoredFile> files;     // one for each part; an empty path where it is missing
  std::vector<std::string> missing;  // roles of parts without a file

  // A folder named by the user that has some of the parts, where another was taken all the same:
  // "sets/mnist (--data) has training images, but no test labels". Empty: none.
  std::string passed_over;
  std::filesystem::path passed_folder;
};

// The first folder that holds all parts; else the first that holds most of them. Origins say which
// sources the user named: --data and BOBA_DATA.
LocatedGroup locate(const FileGroup& group, const DataSources& sources);

}  // namespace boba::sim
