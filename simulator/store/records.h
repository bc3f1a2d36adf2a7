// What a run leaves in the database, as plain values. docs/results-database.md has the tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boba::sim {

// What is known of a run before it starts. The pair of config and data identifies it.
struct RunHeader {
  std::string name;      // of the experiment file: "mnist"
  std::string config;    // canonical text of the experiment
  std::string data;      // checksum of the data set
  std::string baseline;  // config of the run that recalls are compared with; same data
  std::string dataset;
  std::string partition;
  std::string model;
  std::string algorithm;
  std::string rule;
  std::string attack;
  int honest = 0;
  int byzantine = 0;
  std::uint64_t seed = 0;
  int rounds = 0;
  std::size_t parameters = 0;
  std::vector<std::string> classes;
  std::string version;   // as version_text writes it
  std::string gpu = {};  // name of the GPU that computes the run; empty: the processor does
};

// What the column version holds: boba's version, and the GPU's name if there is one.
inline std::string version_text(std::string_view version, std::string_view gpu) {
  return std::string(version) + (gpu.empty() ? "" : ", " + std::string(gpu));
}

struct ClientRecord {
  int client = 0;  // honest ones first
  bool honest = true;
  std::vector<std::size_t> labels;  // examples of each class
  std::string corruption;           // "" if none
};

// One round. Rounds count from 1. Times are in seconds.
struct RoundRecord {
  int round = 0;
  double learning_rate = 0;
  double train_seconds = 0;
  double attack_seconds = 0;
  double aggregate_seconds = 0;
  double evaluate_seconds = 0;
  double update_norm = 0;             // of the aggregate
  std::vector<int> participants;      // clients of this round; empty: all
  std::vector<int> rejected;          // those of them that were not accepted
  int false_accepts = 0;              // Byzantine clients accepted
  int false_rejects = 0;              // honest clients rejected
  std::optional<double> label_error;  // mean over honest clients of |p - true mix|_1 / 2; boba only
  std::optional<int> fits;            // how often boba fitted its subspace
  std::string note;                   // what went wrong in the round, if anything
};

struct EvaluationRecord {
  int round = 0;
  std::optional<double> loss;           // none if it is not a number
  double accuracy = 0;                  // 0 to 1
  std::vector<double> recall;           // of each class, 0 to 1
  std::vector<std::int64_t> confusion;  // row: truth, column: prediction; row major
};

// BOBA's estimates of the clients' label mixes, in rounds that were evaluated.
struct EstimateRecord {
  int round = 0;
  std::vector<int> clients;
  std::vector<std::vector<double>> shares;  // of each class, for each of the clients
};

enum class RunStatus : std::uint8_t { kWaiting, kRunning, kStopped, kFinished, kFailed };
inline constexpr std::array<std::string_view, 5> kRunStatuses = {"waiting", "running", "stopped",
                                                                 "finished", "failed"};
inline std::string_view name(RunStatus status) {
  return kRunStatuses[static_cast<std::size_t>(status)];
}

// A run as a list shows it.
struct RunRecord {
  std::int64_t id = 0;
  RunHeader header;
  RunStatus status = RunStatus::kWaiting;
  int rounds_done = 0;
  std::optional<double> accuracy;  // of the last evaluation
  std::optional<double> mrd;       // largest drop of a class's recall against the baseline, 0 to 1
  double seconds = 0;              // spent in its rounds
  std::string created;             // UTC, ISO 8601
  std::string finished;            // "" if it has not
  std::string error;               // why it failed
  std::string model_file;          // safetensors, beside the database; "" if none
  // Who runs it: "host7, process 4242, last wrote 2026-03-01T12:00:00Z"; "" unless it is running.
  std::string owner;
};

// What was computed rather than run: curves of points, by series. experiment, config, data and seed
// identify it.
struct MeasuredPoint {
  std::string series;
  double x = 0;
  double y = 0;
};

struct MeasurementRecord {
  std::int64_t id = 0;
  std::string experiment;  // "pca"
  std::string config;      // what was measured, a "key = value" a line
  std::string data;        // checksum of the data set; "" if there is none
  std::uint64_t seed = 0;
  std::string version;  // of boba
  std::string machine;  // where, for times: "cpu, 2 threads, avx512"
  double seconds = 0;
  std::string created;                // UTC, ISO 8601
  std::vector<MeasuredPoint> points;  // in the order they were given, series by series
};

}  // namespace boba::sim
