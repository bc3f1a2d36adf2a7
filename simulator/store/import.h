// Copies the runs and measurements of another database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "boba/core/result.h"

namespace boba::sim {

enum class ImportMode : std::uint8_t {
  kRefuse,  // write nothing if finished runs contradict each other
  kKeep,    // keep the runs of this database
};

// Two finished runs of one experiment and data with different numbers.
struct Contradiction {
  std::int64_t ours = 0;  // number of the run here
  std::int64_t theirs = 0;
  std::string what;  // "mnist  boba(f=16)  ipm  seed 1"
  int round = 0;     // the first that differs
  double accuracy_ours = 0;
  double accuracy_theirs = 0;
};

struct ImportReport {
  bool written = false;  // false: contradictions
  std::size_t copied = 0;
  std::size_t replaced = 0;      // unfinished ones here
  std::size_t identical = 0;     // the same numbers, or smaller differences than rounding
  std::size_t other = 0;         // of another version and other numbers: ours kept
  std::size_t not_further = 0;   // ours has as many rounds, or is finished
  std::size_t busy = 0;          // a process holds ours
  std::size_t measurements = 0;  // copied
  std::vector<Contradiction> contradictions;
};

namespace store {

class Database;

// into is the database of the file into_file; see Store::import_from.
Result<ImportReport> import_results(Database& into, const std::filesystem::path& into_file,
                                    const std::filesystem::path& from, ImportMode mode);

}  // namespace store
}  // namespace boba::sim
