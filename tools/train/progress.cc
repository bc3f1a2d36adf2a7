#include "tools/train/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boba/text/printable.h"
#include "tools/train/label_table.h"

namespace boba::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBarWidth = 24;
constexpr auto kPause = std::chrono::milliseconds(100);

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What distinguishes the runs of a grid, in columns.
std::vector<std::string> labels_of(const sim::Grid& grid) {
  std::size_t rule = 0;
  std::size_t attack = 0;
  for (const sim::Experiment& e : grid.experiments) {
    rule = std::max(rule, e.rule.size());
    attack = std::max(attack, e.attack.size());
  }
  std::vector<std::string> labels;
  for (const sim::Experiment& e : grid.experiments) {
    labels.push_back(
        printable(fmt::format("{:<{}}  {:<{}}  seed {}", e.rule, rule, e.attack, attack, e.seed)));
  }
  return labels;
}

}  // namespace

std::string clock_time(double seconds) {
  const long whole = std::lround(std::max(0.0, seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string bar(double share, std::size_t width) {
  const double inside = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  const auto full = static_cast<std::size_t>(inside);
  return std::string(full, '#') + std::string(width - full, '.');
}

Progress::Progress(const sim::Grid& grid, const ProgressOptions& options)
    : grid_(grid), options_(options), labels_(labels_of(grid)), start_(Clock::now()) {
  for (const sim::Experiment& e : grid.experiments) rounds_open_ += e.training.rounds;
}

void Progress::started(std::size_t index, std::int64_t run, const sim::Simulation& simulation) {
  const std::lock_guard lock(mutex_);
  Running& state = running_[index];
  state = {.run = run,
           .label = labels_[index],
           .first = simulation.rounds_done(),
           .done = simulation.rounds_done(),
           .rounds = simulation.header().rounds,
           .since = Clock::now()};
  rounds_open_ -= state.first;
  if (options_.label_table) {
    std::string table = label_table_text(simulation.clients(), simulation.header().classes,
                                         simulation.header().partition, run);
    // The run's number is not part of what is dealt.
    const std::string dealt = label_table_text(simulation.clients(), simulation.header().classes,
                                               simulation.header().partition, 0);
    if (std::find(tables_shown_.begin(), tables_shown_.end(), dealt) == tables_shown_.end()) {
      tables_shown_.push_back(dealt);
      say(table);
    }
  }
  if (state.first > 0) {
    say(fmt::format("run {:>4}  {}  resumed after round {}\n", run, state.label, state.first));
  }
  draw(true);
}

void Progress::round(std::size_t index, const sim::RoundEntry& entry) {
  const std::lock_guard lock(mutex_);
  Running& state = running_[index];
  state.done = entry.round.round;
  if (entry.evaluation) state.accuracy = entry.evaluation->accuracy;
  ++rounds_seen_;
  --rounds_open_;
  draw(entry.evaluation.has_value());
}

void Progress::ended(std::size_t index, std::int64_t run, sim::RunEnd end,
                     const std::string& message) {
  const std::lock_guard lock(mutex_);
  ++ends_[static_cast<std::size_t>(end)];
  ++settled_;
  ids_[index] = run;
  const auto found = running_.find(index);
  const Running state = found == running_.end() ? Running{} : found->second;
  if (found != running_.end()) running_.erase(found);
  const int rounds = grid_.experiments[index].training.rounds;
  rounds_open_ -= rounds - state.done;
  const std::string head = fmt::format("run {:>4}  {}  ", run, labels_[index]);
  switch (end) {
    case sim::RunEnd::kFinished:
      say(fmt::format("{}{}after {} rounds  {}\n", head,
                      state.accuracy < 0 ? "" : fmt::format("{:6.2f} % ", 100 * state.accuracy),
                      rounds, clock_time(seconds_since(state.since))));
      break;
    case sim::RunEnd::kStopped:
      say(fmt::format("{}stopped after round {} of {}\n", head, state.done, rounds));
      break;
    case sim::RunEnd::kFailed:
      say(fmt::format("{}failed\n", head));
      complaints_.push_back(fmt::format("run {} failed: {}", run, message));
      break;
    case sim::RunEnd::kDone:
      break;
    case sim::RunEnd::kBusy:
      complaints_.push_back(fmt::format("run {} is left to the process that has it{}", run,
                                        message.empty() ? "" : ": " + message));
      break;
    case sim::RunEnd::kUnfinished:
      complaints_.push_back(
          fmt::format("run {} was begun before and is not finished: --resume "
                      "continues it, --again starts it over",
                      run));
      break;
  }
  draw(true);
}

std::map<std::size_t, std::int64_t> Progress::runs() const {
  const std::lock_guard lock(mutex_);
  return ids_;
}

void Progress::close() {
  const std::lock_guard lock(mutex_);
  erase();
  std::fflush(options_.out);
}

double Progress::seconds_left() const {
  if (rounds_seen_ == 0) return -1;
  return seconds_since(start_) / static_cast<double>(rounds_seen_) *
         static_cast<double>(rounds_open_);
}

std::string Progress::total_line() const {
  const std::size_t all = grid_.experiments.size();
  const double left = seconds_left();
  const long every = rounds_seen_ + rounds_open_;
  const double share =
      every == 0 ? 1 : static_cast<double>(rounds_seen_) / static_cast<double>(every);
  return fmt::format(
      "     all  [{}] {} of {} runs done, {} running, {}", bar(share, kBarWidth), settled_, all,
      running_.size(),
      left < 0 ? std::string("time left not known yet") : "about " + clock_time(left) + " left");
}

// REQUIRES, for those below: the lock is held.
void Progress::say(const std::string& line) {
  if (options_.quiet) return;
  erase();
  std::fputs(line.c_str(), options_.out);
  std::fflush(options_.out);
}

void Progress::erase() {
  for (; lines_ > 0; --lines_) std::fputs("\x1b[1A\x1b[2K", options_.out);
}

// A line that wrapped would not be erased whole.
void Progress::draw_line(const std::string& line) {
  fmt::print(options_.out, "{}\n", line.substr(0, options_.columns - 1));
  ++lines_;
}

void Progress::draw(bool force) {
  if (!options_.terminal) return;
  if (!force && Clock::now() - drawn_ < kPause) return;
  erase();
  for (const auto& entry : running_) {
    const Running& state = entry.second;
    const int rounds = std::max(1, state.rounds);
    const double spent = seconds_since(state.since);
    const int here = state.done - state.first;
    const std::string left =
        here == 0 ? "" : clock_time(spent / here * (state.rounds - state.done)) + " left";
    const std::string accuracy =
        state.accuracy < 0 ? "" : fmt::format("{:.2f} %", 100 * state.accuracy);
    draw_line(fmt::format("run {:>4}  [{}] {:>4}/{}  {:>7}  {:>9}  {}", state.run,
                          bar(static_cast<double>(state.done) / rounds, kBarWidth), state.done,
                          state.rounds, accuracy, left, state.label));
  }
  draw_line(total_line());
  std::fflush(options_.out);
  drawn_ = Clock::now();
}

}  // namespace boba::tools
