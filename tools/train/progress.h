// Progress of a grid of runs: on a terminal a bar for each run in progress and one for the whole,
// redrawn in place; elsewhere a line when a run ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "simulator/experiment/grid.h"
#include "simulator/train/runner.h"

namespace boba::tools {

// "0:07", "12:40", "3:02:00".
std::string clock_time(double seconds);

// "#####.....": share of the width, 0 to 1.
std::string bar(double share, std::size_t width);

struct ProgressOptions {
  std::FILE* out = stderr;
  bool terminal = false;
  std::size_t columns = 80;  // of the terminal; longer lines are cut
  bool label_table = true;   // print who holds which labels, once for each way of dealing them
  bool quiet = false;        // say nothing at all
};

class Progress final : public sim::RunObserver {
 public:
  Progress(const sim::Grid& grid, const ProgressOptions& options);

  void started(std::size_t index, std::int64_t run, const sim::Simulation& simulation) override;
  void round(std::size_t index, const sim::RoundEntry& entry) override;
  void ended(std::size_t index, std::int64_t run, sim::RunEnd end,
             const std::string& message) override;

  // Takes the bars away. The rest is known only now.
  void close();

  std::size_t count(sim::RunEnd end) const { return ends_[static_cast<std::size_t>(end)]; }
  // Ids of the runs that ended, by place in the grid.
  std::map<std::size_t, std::int64_t> runs() const;
  // One sentence for each run that failed or was left alone, for the last word of the command.
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  struct Running {
    std::int64_t run = 0;
    std::string label;
    int first = 0;  // rounds done when it started
    int done = 0;
    int rounds = 0;
    double accuracy = -1;
    std::chrono::steady_clock::time_point since;
  };

  void say(const std::string& line);
  void draw(bool force);
  void draw_line(const std::string& line);
  void erase();
  std::string total_line() const;
  double seconds_left() const;

  const sim::Grid& grid_;
  ProgressOptions options_;
  std::vector<std::string> labels_;  // "boba(f=16)  ipm  seed 1", aligned, one per run
  mutable std::mutex mutex_;
  std::map<std::size_t, Running> running_;
  std::map<std::size_t, std::int64_t> ids_;
  std::size_t ends_[6] = {};
  std::size_t settled_ = 0;  // runs that ended, in whatever way
  long rounds_seen_ = 0;
  long rounds_open_ = 0;  // of all runs that have not ended
  std::vector<std::string> complaints_;
  std::vector<std::string> tables_shown_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  int lines_ = 0;  // of the bars on the screen
};

}  // namespace boba::tools
