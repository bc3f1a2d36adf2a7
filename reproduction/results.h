// What a database knows about an experiment of the paper: runs sorted into cells.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "reproduction/expand.h"
#include "reproduction/paper_file.h"
#include "simulator/store/store.h"

namespace boba::reproduction {

struct CellKey {
  std::string dataset;
  std::string setting;
  std::string second;
  std::string rule;
  std::string attack;

  auto operator<=>(const CellKey&) const = default;
};

// What is known of seeds whose single numbers were not kept.
struct Summary {
  double mean = 0;
  std::optional<double> sd;  // none for a single seed
  std::size_t seeds = 0;
};

// One number of each seed, in percent. The summary counts where it has more seeds.
struct Numbers {
  std::map<std::uint64_t, double> by_seed;
  std::optional<Summary> summary;

  std::size_t seeds() const;
};

// The seeds of one cell.
struct Cell {
  std::set<std::uint64_t> seeds;  // that the experiment asks for
  std::size_t started = 0;
  Numbers accuracy;               // of finished runs
  Numbers mrd;                    // where the baseline has finished too
  std::vector<std::int64_t> ids;  // of the finished runs
};

// What the finished runs of a data set share.
struct DatasetFacts {
  std::size_t finished = 0;
  std::size_t other_data = 0;  // finished runs on other data of the same name: left out
  std::size_t train = 0;       // examples that clients hold
  std::size_t test = 0;
  int rounds = 0;
  int honest = 0;
  std::set<int> byzantine;
  std::set<std::string> versions;
};

struct PaperResults {
  PaperFile file;
  std::vector<std::string> datasets;  // each in the order of the experiment
  std::vector<std::string> settings;
  std::vector<std::string> seconds;
  std::vector<std::string> rules;
  std::vector<std::string> attacks;
  std::map<CellKey, Cell> cells;
  std::map<std::string, DatasetFacts> facts;
  std::size_t wanted = 0;  // runs
  std::size_t finished = 0;
  std::size_t grids_left_out = 0;
  std::optional<double> seconds_left;  // none: no finished run to judge by
};

// "0.25", or "20/18" where there are two directions.
std::string setting_text(const std::string& setting, const std::string& second);

// The runs of a database by their config, read once for all experiments.
class RunIndex {
 public:
  static Result<RunIndex> read(const sim::Store& store);

  // Runs of this config; several where data of one name differ.
  std::vector<const sim::RunRecord*> find(const std::string& config) const;
  // Seconds of a round of runs like this one; none if there are none.
  std::optional<double> seconds_of_round(const sim::Experiment& experiment) const;

 private:
  std::vector<sim::RunRecord> runs_;
  std::multimap<std::string, std::size_t> by_config_;
  std::map<std::string, std::pair<double, double>> pace_;  // seconds and rounds
};

// REQUIRES: is_runs(file.kind). store gives sizes of data sets; it may be null.
Result<PaperResults> collect(const PaperFile& file, const PaperOptions& options,
                             const RunIndex& index, const sim::Store* store);

// A mean and how many rounds it is over.
struct RoundMean {
  double mean = 0;
  std::size_t rounds = 0;
};

// What the rounds of many runs took on average.
struct RoundMeans {
  RoundMean milliseconds;  // of an aggregation
  RoundMean fits;          // of a subspace
};

Result<RoundMeans> round_means(const sim::Store& store, const std::vector<std::int64_t>& runs);

// The finished runs of a rule, by data set.
std::map<std::string, std::vector<std::int64_t>> runs_of(const PaperResults& results,
                                                         std::string_view rule);

}  // namespace boba::reproduction
