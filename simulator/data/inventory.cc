#include "simulator/data/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

#include "simulator/data/archive.h"
#include "simulator/data/digest.h"
#include "simulator/data/sets.h"

namespace boba::sim {
namespace {

// Where the set's files are, part by part.
struct Whereabouts {
  std::vector<StoredFile> files;
  std::string missing;      // roles, separated by commas
  std::string passed_over;  // of LocatedGroup
  std::string passed_folder;
  std::string folders;
};

Whereabouts find_files(const SetEntry& entry, const DataSources& sources) {
  Whereabouts result;
  for (const FileGroup& group : entry.groups) {
    const LocatedGroup found = locate(group, sources);
    const std::string folder = found.folder.string();
    if (!folder.empty() && result.folders != folder) {
      result.folders += (result.folders.empty() ? "" : ", ") + folder;
    }
    if (result.passed_over.empty() && !found.passed_over.empty()) {
      result.passed_over = found.passed_over +
                           "; complete that folder or do not name it: " + folder +
                           " has all of them";
      result.passed_folder = found.passed_folder.string();
    }
    result.files.insert(result.files.end(), found.files.begin(), found.files.end());
    for (const std::string& role : found.missing) {
      result.missing += (result.missing.empty() ? "" : ", ") + role;
    }
  }
  return result;
}

using Counts = std::vector<std::optional<std::size_t>>;  // by part

// The sum over the parts of one kind; none if one is not known.
std::optional<std::size_t> total(const SetEntry& entry, const Counts& counts, CountOf kind) {
  std::size_t sum = 0;
  for (std::size_t part = 0; part < counts.size(); ++part) {
    if (entry.counted[part] != kind) continue;
    if (!counts[part]) return std::nullopt;
    sum += *counts[part];
  }
  return sum;
}

// What is wrong where a part of labels has not as many as there are images, else "".
std::string label_trouble(const SetEntry& entry, const Counts& counts, std::size_t part) {
  const CountOf kind = entry.counted[part];
  if (kind != CountOf::kTrainingLabels && kind != CountOf::kTestLabels) return "";
  const auto images =
      total(entry, counts, kind == CountOf::kTrainingLabels ? CountOf::kTraining : CountOf::kTest);
  if (!images || !counts[part] || *images == *counts[part]) return "";
  return fmt::format("{} labels; expected one for each of {} images", *counts[part], *images);
}

// Fills in the numbers of examples; what is wrong, else "".
std::string count_examples(const SetEntry& entry, std::span<const StoredFile> files,
                           FoundSet& found) {
  Counts counts(files.size());
  const Result<void> read =
      read_files(files, [&](std::size_t part, ByteStream& stream) -> Result<void> {
        const Result<std::optional<std::size_t>> count = entry.count(part, stream);
        if (!count) return count.error();
        counts[part] = *count;
        return {};
      });
  if (!read) return read.error().message;
  found.train = total(entry, counts, CountOf::kTraining);
  found.test = total(entry, counts, CountOf::kTest);
  for (std::size_t part = 0; part < files.size(); ++part) {
    const std::string trouble = label_trouble(entry, counts, part);
    if (!trouble.empty()) return fmt::format("{}: {}", files[part].name(), trouble);
  }
  return "";
}

// Of the bytes as they lie there, packed or not.
Result<void> add_stored_bytes(const std::filesystem::path& path, Digest& digest) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(std::size_t{1} << 18);
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    digest.add({reinterpret_cast<const std::uint8_t*>(block.data()),
                static_cast<std::size_t>(file.gcount())});
  }
  if (file.eof()) return {};
  return Error{ErrorCode::kIo, fmt::format("{}: cannot read it", path.string())};
}

Result<std::string> stored_checksum(std::span<const StoredFile> files) {
  Digest digest;
  std::vector<std::filesystem::path> done;
  for (const StoredFile& file : files) {
    if (std::find(done.begin(), done.end(), file.path) != done.end()) continue;
    done.push_back(file.path);
    if (Result<void> added = add_stored_bytes(file.path, digest); !added) return added.error();
  }
  return digest.finish();
}

// Where the numbers are not the published ones: what they are, else "".
std::string unusual_counts(const SetEntry& entry, const FoundSet& found) {
  const auto sentence = [](std::size_t have, std::string_view what, std::size_t published) {
    return fmt::format("{} {} examples; the published set has {}", have, what, published);
  };
  if (found.train && *found.train != entry.train) {
    return sentence(*found.train, "training", entry.train);
  }
  if (found.test && *found.test != entry.test) return sentence(*found.test, "test", entry.test);
  return "";
}

FoundSet describe_set(const SetEntry& entry, const DataSources& sources) {
  FoundSet found;
  found.name = entry.name;
  found.advice = entry.advice;
  const Whereabouts where = find_files(entry, sources);
  found.folder = where.folders;
  if (!where.missing.empty()) {
    found.trouble = where.folders.empty() ? "not found" : "not found: " + where.missing;
    return found;
  }
  // Loading refuses it, too: the user meant the folder that was named.
  if (!where.passed_over.empty()) {
    found.folder = where.passed_folder;
    found.trouble = where.passed_over;
    return found;
  }
  found.trouble = count_examples(entry, where.files, found);
  if (!found.trouble.empty()) return found;
  Result<std::string> checksum = stored_checksum(where.files);
  if (!checksum) {
    found.trouble = checksum.error().message;
    return found;
  }
  found.checksum = *std::move(checksum);
  found.complete = true;
  found.trouble = unusual_counts(entry, found);
  return found;
}

void judge(const KnownDigest& known, bool partial, VerifiedFile& file) {
  file.state = FileState::kReadable;
  if (partial) {
    file.remark = "a part of the published file";
  } else if (known.hex.empty()) {
    file.remark = "no checksum to compare with";
  } else if (file.digest == known.hex) {
    file.state = FileState::kCanonical;
  } else {
    file.remark = fmt::format("not the published file, whose {} is {}",
                              known.kind == DigestKind::kMd5 ? "md5" : "sha256", known.hex);
  }
}

// Reads the files at these places of all, which lie in one archive or are one file.
void verify_pass(const SetEntry& entry, std::span<const StoredFile> all,
                 std::span<const std::size_t> places, Counts& counts, VerifiedSet& set) {
  std::vector<StoredFile> files;
  for (std::size_t place : places) files.push_back(all[place]);
  std::vector<bool> done(places.size(), false);
  const Result<void> read = read_files(files, [&](std::size_t i, ByteStream& stream) {
    const std::size_t part = places[i];
    VerifiedFile& file = set.files[part];
    Digest digest(all[part].partial ? DigestKind::kSha256 : entry.known[part].kind);
    stream.set_digest(&digest);
    const Result<std::size_t> count = entry.check(part, stream);
    stream.set_digest(nullptr);
    done[i] = true;
    if (!count) {
      file.remark = count.error().message;
      return Result<void>();
    }
    counts[part] = file.items = *count;
    file.digest = digest.finish();
    judge(entry.known[part], all[part].partial, file);
    return Result<void>();
  });
  if (read) return;
  // After the last file it is the checksum of the archive itself that is wrong, so of all files.
  const bool all_done = std::find(done.begin(), done.end(), false) == done.end();
  for (std::size_t i = 0; i < places.size(); ++i) {
    VerifiedFile& file = set.files[places[i]];
    if ((done[i] && !all_done) || (all_done && file.state == FileState::kDamaged)) continue;
    file = {.role = file.role, .name = file.name, .remark = read.error().message};
  }
}

}  // namespace

std::vector<FoundSet> list_datasets(const DataSources& sources) {
  std::vector<FoundSet> sets;
  for (const SetEntry* entry : file_sets()) sets.push_back(describe_set(*entry, sources));
  return sets;
}

bool holds_data(const std::filesystem::path& folder) {
  const DataSources only{.folders = {folder}};
  const auto has_group = [&](const FileGroup& group) {
    return !locate(group, only).folder.empty();
  };
  return std::any_of(file_sets().begin(), file_sets().end(), [&](const SetEntry* entry) {
    return std::any_of(entry->groups.begin(), entry->groups.end(), has_group);
  });
}

bool VerifiedSet::damaged() const {
  return std::any_of(files.begin(), files.end(),
                     [](const VerifiedFile& file) { return file.state == FileState::kDamaged; });
}

Result<VerifiedSet> verify_dataset(std::string_view name, const DataSources& sources) {
  const Result<const SetEntry*> entry = find_set(name);
  if (!entry) return entry.error();
  if (*entry == nullptr)
    return invalid_argument(fmt::format("{} is built in: it has no files", name));
  const Result<std::vector<StoredFile>> files = locate_set(**entry, sources);
  if (!files) return files.error();
  VerifiedSet set;
  set.name = name;
  for (const FileGroup& group : (*entry)->groups) {
    for (const FilePart& part : group.parts) {
      set.files.push_back(
          {.role = std::string(part.role), .name = (*files)[set.files.size()].name()});
    }
  }
  Counts counts(files->size());
  std::vector<bool> taken(files->size(), false);
  for (std::size_t i = 0; i < files->size(); ++i) {
    if (taken[i]) continue;
    std::vector<std::size_t> places;
    for (std::size_t j = i; j < files->size(); ++j) {
      const bool together = !(*files)[j].member.empty() && (*files)[j].path == (*files)[i].path;
      if (j != i && !together) continue;
      taken[j] = true;
      places.push_back(j);
    }
    verify_pass(**entry, *files, places, counts, set);
  }
  for (std::size_t part = 0; part < files->size(); ++part) {
    const std::string trouble = label_trouble(**entry, counts, part);
    if (trouble.empty()) continue;
    set.files[part].state = FileState::kDamaged;
    set.files[part].remark = fmt::format("{}: {}", set.files[part].name, trouble);
  }
  return set;
}

}  // namespace boba::sim
