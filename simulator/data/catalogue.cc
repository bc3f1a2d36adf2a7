#include "simulator/data/catalogue.h"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>
#include <utility>

#include "boba/core/options.h"
#include "boba/core/spec.h"
#include "boba/text/names.h"
#include "simulator/data/sets.h"
#include "simulator/data/synthetic.h"

namespace boba::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDebianFolder = "/usr/share/datasets";

constexpr const SetEntry* kFileSets[] = {&kMnist, &kFashionMnist, &kCifar10, &kAgNews};

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

fs::path cache_folder() {
  // As the XDG specification has it, a relative path is no answer.
  const fs::path cache = environment("XDG_CACHE_HOME");
  if (cache.is_absolute()) return cache / "boba";
  const fs::path home = environment("HOME");
  return home.is_absolute() ? home / ".cache" / "boba" : fs::path();
}

// A spec's set: one that lies in files, or the built-in one with its options.
struct Chosen {
  const SetEntry* entry = nullptr;
  SyntheticSetOptions synthetic = {};
};

Result<Chosen> choose(std::string_view spec) {
  const Result<Params> stage = parse_single("data set", spec);
  if (!stage) return stage.error();
  const Params& params = *stage;
  if (params.name == SyntheticSetOptions::info().name) {
    const Result<SyntheticSetOptions> options = bind<SyntheticSetOptions>(params);
    if (!options) return options.error();
    if (Result<void> sound = check_synthetic(*options); !sound) return sound.error();
    return Chosen{.synthetic = *options};
  }
  for (const SetEntry* entry : kFileSets) {
    if (entry->name != params.name) continue;
    if (params.values.empty()) return Chosen{.entry = entry};
    return detail::unknown_option(params.name, params.values.front().first, {});
  }
  return unknown_name("data set", params.name, dataset_names());
}

Error missing_set(const SetEntry& entry, std::span<const LocatedGroup> groups,
                  const DataSources& sources) {
  std::string what;
  for (const LocatedGroup& group : groups) {
    for (const std::string& role : group.missing) what += (what.empty() ? "" : ", ") + role;
  }
  return invalid_argument(fmt::format(
      "{}: not found: {}. Looked in {}. {} The folder that holds it goes into --data or "
      "BOBA_DATA.",
      entry.name, what, describe_sources(sources), entry.advice));
}

}  // namespace

std::span<const SetEntry* const> file_sets() { return kFileSets; }

std::vector<std::string_view> dataset_names() {
  std::vector<std::string_view> names;
  for (const SetEntry* entry : kFileSets) names.push_back(entry->name);
  names.push_back(SyntheticSetOptions::info().name);
  return names;
}

DataSources default_sources(std::string_view data_option) {
  DataSources sources;
  const auto add = [&](fs::path folder, std::string_view origin) {
    if (folder.empty()) return;
    sources.folders.push_back(std::move(folder));
    sources.origins.emplace_back(origin);
  };
  add(data_option, kDataOption);
  add(environment("BOBA_DATA"), kDataVariable);
  add(kDebianFolder, "Debian package");
  add(cache_folder(), "cache");
  return sources;
}

std::string describe_sources(const DataSources& sources) {
  std::string text;
  for (std::size_t i = 0; i < sources.folders.size(); ++i) {
    std::error_code trouble;
    std::string remark = i < sources.origins.size() ? sources.origins[i] : "";
    if (!fs::is_directory(sources.folders[i], trouble)) {
      remark += remark.empty() ? "no such folder" : "; no such folder";
    }
    text += (text.empty() ? "" : ", ") + sources.folders[i].string();
    if (!remark.empty()) text += " (" + remark + ")";
  }
  return text.empty() ? "no folder at all" : text;
}

Result<void> check_sources(const DataSources& sources) {
  for (std::size_t i = 0; i < sources.origins.size() && i < sources.folders.size(); ++i) {
    if (sources.origins[i] != kDataOption) continue;
    std::error_code trouble;
    if (fs::is_directory(sources.folders[i], trouble)) continue;
    return invalid_argument(fmt::format("--data {}: no such folder", sources.folders[i].string()));
  }
  return {};
}

Result<std::vector<StoredFile>> locate_set(const SetEntry& entry, const DataSources& sources) {
  std::vector<LocatedGroup> groups;
  std::vector<StoredFile> files;
  bool missing = false;
  for (const FileGroup& group : entry.groups) {
    groups.push_back(locate(group, sources));
    missing = missing || !groups.back().missing.empty();
    for (const StoredFile& file : groups.back().files) files.push_back(file);
  }
  if (missing) return missing_set(entry, groups, sources);
  for (const LocatedGroup& group : groups) {
    if (group.passed_over.empty()) continue;
    return invalid_argument(
        fmt::format("{}: {}. Complete that folder or do not name it; {} has all of them.",
                    entry.name, group.passed_over, group.folder.string()));
  }
  return files;
}

Result<const SetEntry*> find_set(std::string_view name) {
  const Result<Chosen> chosen = choose(name);
  if (!chosen) return chosen.error();
  return chosen->entry;
}

bool has_dataset(std::string_view name, const DataSources& sources) {
  const Result<const SetEntry*> entry = find_set(name);
  return entry && *entry != nullptr && locate_set(**entry, sources).ok();
}

Result<Dataset> load_dataset(std::string_view spec, const DataSources& sources,
                             const LoadOptions& options) {
  const Result<Chosen> chosen = choose(spec);
  if (!chosen) return chosen.error();
  if (chosen->entry == nullptr) return make_synthetic(chosen->synthetic);
  if (Result<void> sound = check_sources(sources); !sound) return sound.error();
  const Result<std::vector<StoredFile>> files = locate_set(*chosen->entry, sources);
  if (!files) return files.error();
  return chosen->entry->load(*files, options);
}

Result<DatasetTraits> dataset_traits(std::string_view spec) {
  const Result<Chosen> chosen = choose(spec);
  if (!chosen) return chosen.error();
  if (chosen->entry != nullptr) {
    return DatasetTraits{.kind = chosen->entry->kind,
                         .classes = chosen->entry->classes,
                         .spec = std::string(chosen->entry->name)};
  }
  return DatasetTraits{.kind = DataKind::kImages,
                       .classes = static_cast<std::size_t>(chosen->synthetic.classes),
                       .spec = canonical(chosen->synthetic)};
}

}  // namespace boba::sim
