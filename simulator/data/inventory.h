// What there is of each data set, and whether it is intact: for 'boba data'.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/data/catalogue.h"

namespace boba::sim {

// One set, as far as it was found.
struct FoundSet {
  std::string name;
  std::string folder;                // where its files, or most of them, are; empty: nowhere
  std::optional<std::size_t> train;  // examples, as the files' headers state them
  std::optional<std::size_t> test;
  // Of the files as they lie there, packed or not, one after another; empty unless complete.
  std::string checksum;
  bool complete = false;  // it can be loaded
  std::string trouble;    // what is missing, wrong or other than published; empty: nothing
  std::string advice;     // how to get it, in sentences
};

// All sets that lie in files, in the order of dataset_names(). Of archives and texts it reads what
// counting needs, of other files the headers, and of all the bytes for the checksum.
std::vector<FoundSet> list_datasets(const DataSources& sources);

// Whether a file of any set is in the folder, or in one of the folders below it that are looked
// into.
bool holds_data(const std::filesystem::path& folder);

enum class FileState : std::uint8_t {
  kCanonical,  // readable, and its checksum is the published one
  kReadable,   // readable, but another file than the published one, or none is known
  kDamaged,
};

struct VerifiedFile {
  std::string role = "";  // "training images"
  std::string name = "";  // path, and member
  FileState state = FileState::kDamaged;
  std::size_t items = 0;    // examples or vectors
  std::string digest = "";  // of the unpacked content; empty if it is damaged
  std::string remark = "";  // what is wrong, or what it is compared with
};

struct VerifiedSet {
  std::string name;
  std::vector<VerifiedFile> files;
  bool damaged() const;
};

// Reads every byte of the set's files. An error means that the set is not there, or unknown.
Result<VerifiedSet> verify_dataset(std::string_view name, const DataSources& sources);

}  // namespace boba::sim
