// The data sets that lie in files: what they are, where their files may lie, how these are read.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/data/catalogue.h"
#include "simulator/data/locate.h"

namespace boba::sim {

// The checksum of a part's canonical file, unpacked.
struct KnownDigest {
  DigestKind kind = DigestKind::kSha256;
  std::string_view hex = "";  // empty: none is known
};

// Which examples a part holds. The numbers of parts of one kind are added; the labels of images
// that are another part must be as many as these.
enum class CountOf : std::uint8_t { kTraining, kTest, kTrainingLabels, kTestLabels, kNothing };

struct SetEntry {
  std::string_view name;
  DataKind kind = DataKind::kImages;
  std::size_t classes = 0;
  std::size_t train = 0;  // examples of the canonical set
  std::size_t test = 0;
  std::string_view advice;  // how to get it: sentences

  // The parts of all groups, one group after another, are the set's parts.
  std::span<const FileGroup> groups;
  std::span<const KnownDigest> known;  // by part
  std::span<const CountOf> counted;    // by part: which examples it holds

  // REQUIRES: a file for each part.
  Result<Dataset> (*load)(std::span<const StoredFile> files, const LoadOptions& options);
  // How many examples the part holds, as far as that is quickly told.
  Result<std::optional<std::size_t>> (*count)(std::size_t part, ByteStream& stream);
  // Reads the whole file of the part, checks all there is to check, and counts.
  Result<std::size_t> (*check)(std::size_t part, ByteStream& stream);
};

std::span<const SetEntry* const> file_sets();

// Null for the built-in set; an error where there is no set of that name.
Result<const SetEntry*> find_set(std::string_view name);

// A file for each part, or what is missing, where was looked and what to do.
Result<std::vector<StoredFile>> locate_set(const SetEntry& entry, const DataSources& sources);

extern const SetEntry kMnist;
extern const SetEntry kFashionMnist;
extern const SetEntry kCifar10;
extern const SetEntry kAgNews;

}  // namespace boba::sim
