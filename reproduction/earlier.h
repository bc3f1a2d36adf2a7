// The numbers of an earlier report, as its CSV files keep them: results outlive their database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "reproduction/expand.h"
#include "reproduction/paper_file.h"
#include "reproduction/results.h"
#include "simulator/store/records.h"

namespace boba::reproduction {

// Its columns, in the order that they are written.
inline constexpr std::string_view kNumberColumns[] = {
    "experiment",   "dataset", "rule",    "attack", "setting",    "metric", "published",
    "published_sd", "ours",    "ours_sd", "seeds",  "difference", "flag",   "by_seed"};
inline constexpr std::string_view kPointColumns[] = {"experiment", "measurement", "seed",
                                                     "series",     "x",           "y"};
inline constexpr std::string_view kFactColumns[] = {
    "experiment", "dataset", "train", "test", "rounds", "honest", "byzantine", "version"};

struct EarlierNumber {
  std::string experiment;
  std::string dataset;
  std::string rule;
  std::string attack;
  std::string setting;  // "0.25", "20/18"
  std::string metric;
  Numbers numbers;
};

struct EarlierPoint {
  std::string experiment;
  std::string measurement;
  std::uint64_t seed = 0;
  sim::MeasuredPoint point;
};

struct EarlierFacts {
  std::string experiment;
  std::string dataset;  // "" for what was measured: version then names the machine
  DatasetFacts facts;
};

struct EarlierReport {
  std::vector<EarlierNumber> numbers;
  std::vector<EarlierPoint> points;
  std::vector<EarlierFacts> facts;
};

// Errors name the file and line.
Result<EarlierReport> parse_earlier(std::string_view numbers, std::string_view points,
                                    std::string_view facts);

// Seeds that the database does not have; a mean of more seeds than are known one by one. Nothing of
// a data set whose sizes differ from those of the database: that is counted as other data.
void add_earlier(const EarlierReport& earlier, PaperResults& results);

// The measurements of an experiment that points.csv has. Of a picture there are none: its clouds
// are not kept.
Result<std::vector<sim::MeasurementRecord>> earlier_measurements(const EarlierReport& earlier,
                                                                 const PaperFile& file,
                                                                 const PaperOptions& options);

// The one of an earlier report where it is over more rounds: points.csv has it as the series of a
// measurement, x being the rounds.
void take_longer(const EarlierReport* earlier, std::string_view experiment,
                 std::string_view measurement, std::map<std::string, RoundMean>& means);

// "fedsgd iid average none": what a measurement is called in points.csv.
std::string measurement_name(const sim::Experiment& experiment);

// "1:92.43 2:92.6".
std::string seeds_cell(const std::map<std::uint64_t, double>& by_seed);

}  // namespace boba::reproduction
