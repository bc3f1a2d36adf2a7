// WorkLimit: how much one connection to a database may still read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "boba/core/result.h"

namespace boba::sim::store {

// A file can make SQLite work without end in spite of a sound schema: a table whose inner pages all
// point to the same page below has endless rows. A sound table gives every byte of its file a few
// times at most, so the limits grow with the size of the files.
class WorkLimit {
 public:
  explicit WorkLimit(std::string file) : file_(std::move(file)) {}

  // Counts from now on, for the files given; for each statement anew, or for all together.
  void start(std::vector<std::filesystem::path> files, bool each_statement);
  void add_file(const std::filesystem::path& file) { files_.push_back(file); }
  void begin_statement();

  void take_steps(std::int64_t steps) { steps_left_ -= steps; }
  void take_bytes(std::size_t bytes) { bytes_left_ -= static_cast<std::int64_t>(bytes); }
  bool used_up() const { return steps_left_ < 0 || bytes_left_ < 0; }

  const std::string& file() const { return file_; }
  Error error() const;

 private:
  void refill();

  std::string file_;  // as errors name it
  std::vector<std::filesystem::path> files_;
  bool each_statement_ = false;
  std::int64_t size_ = 0;  // bytes of the files
  std::int64_t steps_left_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t bytes_left_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace boba::sim::store
