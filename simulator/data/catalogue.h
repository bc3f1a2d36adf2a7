// Where data sets are found, and how they are loaded by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/data/dataset.h"

namespace boba::sim {

// Folders to look in, the first first. Each may hold the files of a set directly or in a folder of
// the set's name.
struct DataSources {
  std::vector<std::filesystem::path> folders;
  // What named each of them, for messages: "--data", "BOBA_DATA". May be shorter than folders.
  std::vector<std::string> origins = {};
};

// --data (may be empty), then $BOBA_DATA, then the Debian package dataset-fashion-mnist, then the
// user's cache folder ($XDG_CACHE_HOME/boba, else ~/.cache/boba).
DataSources default_sources(std::string_view data_option);

struct LoadOptions {
  int length = 48;  // texts: words kept of each
};

// "DIR (--data), DIR (BOBA_DATA; no such folder)".
std::string describe_sources(const DataSources& sources);

// A folder that --data names must exist; the others need not.
Result<void> check_sources(const DataSources& sources);

// A name of dataset_names(), or "synthetic(...)" with options. An error names file, offset and
// what was expected; a set that is missing is told with where was looked and what to do.
Result<Dataset> load_dataset(std::string_view spec, const DataSources& sources,
                             const LoadOptions& options = {});

// What a set is without reading it, for checking an experiment before anything runs.
struct DatasetTraits {
  DataKind kind = DataKind::kImages;
  std::size_t classes = 0;
  std::string spec;  // in its canonical spelling
};
Result<DatasetTraits> dataset_traits(std::string_view spec);

// Whether all files of a set were found, whatever is in them; of the built-in set: no.
bool has_dataset(std::string_view name, const DataSources& sources);

// The names of the sets, without options; "synthetic", which needs no file, is the last.
std::vector<std::string_view> dataset_names();

}  // namespace boba::sim
