// The architecture's rules about sources: who may include and link whom, and how files look.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace boba {

struct Source {
  std::string path;  // relative to the root
  std::string text;
};

// The sentences that say what is wrong with one source; empty: nothing. path is relative to the
// root of the tree, with forward slashes.
std::vector<std::string> include_faults(std::string_view path, std::string_view text);
std::vector<std::string> style_faults(std::string_view path, std::string_view text);

// What users compile with must not need a library that only sources use. The interface is boba.h,
// each rule and attack (a header with info()), and what these include.
std::vector<std::string> interface_faults(const std::vector<Source>& sources);

// The same for the LINKS of a folder's CMakeLists.txt.
std::vector<std::string> link_faults(std::string_view path, std::string_view text);

// All C and C++ sources below the folders of the root that exist, in order of their paths.
std::vector<Source> read_sources(const std::filesystem::path& root,
                                 const std::vector<std::string>& folders);

}  // namespace boba
