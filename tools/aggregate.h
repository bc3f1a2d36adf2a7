// What boba aggregate is asked for, and what it says about a round; aggregate.cc works in one
// process, aggregate_ranks.cc in several.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/core/kernels.h"
#include "boba/core/memory.h"
#include "boba/core/round.h"
#include "boba/core/sketch.h"
#include "boba/dist/communicator.h"
#include "tools/command.h"
#include "tools/file.h"
#include "tools/npy.h"

namespace boba::tools {

struct AggregateOptions {
  std::string rule;
  std::string updates;
  std::string server;
  std::vector<double> server_counts;
  std::string ids;
  std::string memory;
  std::string out;
  std::string report;
  std::optional<std::uint64_t> seed = {};
  std::string gram = "exact";
  int threads = 0;
};

// What was decided, and how long it took.
struct AggregateRun {
  Verdict verdict;
  std::string kernels;
  double seconds = 0;
};

// The round's files, mapped; round() looks into them.
class RoundFiles {
 public:
  static Result<RoundFiles> open(const AggregateOptions& options);

  Round round() const;
  // An error where one of them was changed since it was opened.
  Result<void> unchanged() const;

 private:
  RoundFiles(NpyFile updates, const AggregateOptions& options)
      : updates_(std::move(updates)), options_(options) {}

  NpyFile updates_;
  std::optional<NpyFile> server_;
  std::vector<std::string> ids_;
  const AggregateOptions& options_;
};

// The kernels that --gram asks for; none: plain ones do. REQUIRES: options were checked.
Result<std::unique_ptr<const Kernels>> sketch_kernels(const AggregateOptions& options,
                                                      const Kernels& plain, std::uint64_t seed);

// The memory of earlier rounds, new if its file does not exist; none without --memory.
Result<std::optional<Memory>> read_memory(const AggregateOptions& options, const Aggregator& rule);

// Makes the files of a round, still to be committed; none where they are not asked for.
Result<std::optional<OutputFile>> make_memory(const AggregateOptions& options,
                                              const std::optional<Memory>& memory);
Result<std::optional<OutputFile>> make_report(const AggregateOptions& options,
                                              const AggregateRun& run);

// The last words, with --out or --report, and without.
void print_written(const AggregateOptions& options, const AggregateRun& run);
void print_summary(const AggregateRun& run, const Round& round);

// One of several processes: each holds some columns. Rank 0 speaks; the outcome is one for all.
Outcome aggregate_on_ranks(const AggregateOptions& options, const Aggregator& rule,
                           const Communicator& ranks);

}  // namespace boba::tools
