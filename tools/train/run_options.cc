#include "tools/train/run_options.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "boba/dist/job_queue.h"
#include "boba/dist/launch.h"
#include "simulator/data/catalogue.h"
#include "simulator/train/runner.h"
#include "simulator/train/spread.h"
#include "tools/train/grid_share.h"
#include "tools/train/progress.h"

namespace boba::tools {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void request_stop(int signal_number) {
  const int saved = errno;
  stop_requested = true;
  // The next one ends the process as if nobody had asked to hear of it.
  ::signal(signal_number, SIG_DFL);
  constexpr char kText[] = "\nStopping after this round; once more to end at once.\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText, sizeof(kText) - 1);
  errno = saved;
}

// Hears SIGINT and SIGTERM while it lives.
class StopSignals {
 public:
  StopSignals() {
    stop_requested = false;
    struct sigaction action = {};
    action.sa_handler = &request_stop;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &action, &interrupt_);
    ::sigaction(SIGTERM, &action, &terminate_);
  }
  ~StopSignals() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGTERM, &terminate_, nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  struct sigaction interrupt_ = {};
  struct sigaction terminate_ = {};
};

std::size_t terminal_columns() {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

sim::ClaimMode mode_of(const RunOptions& options) {
  if (options.again) return sim::ClaimMode::kRestart;
  return options.resume ? sim::ClaimMode::kResume : sim::ClaimMode::kNew;
}

int threads_for(const RunOptions& options) {
  return options.threads > 0 ? options.threads : threads_of(launched());
}

// Whether all ranks read the same data; they all go on, or none does.
Result<void> check_data(const sim::Grid& grid, sim::DatasetCache& data, const Communicator& ranks) {
  std::string checksums;
  Result<void> read;
  for (const sim::Experiment& experiment : grid.experiments) {
    const auto dataset = data.get(experiment.data);
    if (!dataset) {
      read = dataset.error();
      break;
    }
    checksums += (*dataset)->checksum + "\n";
  }
  if (read = agree(ranks, read); !read) return read;
  if (all_same(ranks, checksums)) return {};
  return Error{ErrorCode::kIo,
               "the ranks read different data under the same names; give all the "
               "same, or let --data name a folder that they share"};
}

// What this process does of the grid. The clients of a single run are shared where there are other
// processes; otherwise each process takes the next run that nobody has.
Result<void> run_share(const sim::Grid& grid, sim::DatasetCache& data, sim::Store& store,
                       const RunOptions& options, const Communicator& ranks, Progress& progress) {
  sim::RunnerOptions runner{.jobs = options.jobs,
                            .threads = threads_for(options),
                            .device = options.device,
                            .mode = mode_of(options),
                            .stop = &stop_requested};
  if (ranks.size() == 1) return sim::run_grid(grid, data, store, runner, progress);
  if (grid.experiments.size() > 1) {
    if (const Result<void> same = check_data(grid, data, ranks); !same) return same;
    const std::unique_ptr<JobQueue> queue = make_job_queue(ranks, grid.experiments.size());
    runner.next = [&] { return queue->next(); };
    return sim::run_grid(grid, data, store, runner, progress);
  }
  runner.ranks = &ranks;
  const Result<void> done = sim::run_grid(grid, data, store, runner, progress);
  sim::release_followers(ranks);
  return done;
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& options) {
  command.add_option("--set", options.settings, "set a key of the experiment; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--data", options.data, "folder with data sets, before $BOBA_DATA")
      ->type_name("DIR");
  command
      .add_option("--jobs", options.jobs, "runs at once; they share the threads (on a GPU: one)")
      ->check(whole_number(1, 1024))
      ->type_name("N")
      ->capture_default_str();
  add_threads_option(command, options.threads);
  command.add_option("--device", options.device, "where to compute: cpu, cuda, cuda:1, ...")
      ->type_name("DEVICE")
      ->capture_default_str();
  command.add_flag("--quiet", options.quiet, "no progress");
}

Result<std::vector<sim::Override>> overrides_of(const std::vector<std::string>& settings) {
  std::vector<sim::Override> overrides;
  for (const std::string& setting : settings) {
    auto parsed = sim::parse_override(setting);
    if (!parsed) return parsed.error();
    overrides.push_back(std::move(*parsed));
  }
  return overrides;
}

Result<GridOutcome> run_with_progress(const sim::Grid& grid, sim::Store& store,
                                      const RunOptions& options, const Communicator& ranks) {
  sim::DatasetCache data(sim::default_sources(options.data));
  Progress progress(
      grid, {.out = stderr,
             .terminal = !options.quiet && ranks.size() == 1 && ::isatty(STDERR_FILENO) == 1,
             .columns = terminal_columns(),
             .label_table = !options.quiet && ranks.rank() == 0,
             .quiet = options.quiet});
  Result<void> done;
  {
    const StopSignals signals;
    done = run_share(grid, data, store, options, ranks, progress);
  }
  progress.close();
  if (done = agree(ranks, done); !done) return done.error();
  const GridShare all = joined(ranks, {.ids = progress.runs(),
                                       .complaints = progress.complaints(),
                                       .complete = progress.count(sim::RunEnd::kFinished) +
                                                   progress.count(sim::RunEnd::kDone),
                                       .stopped = stop_requested});
  GridOutcome outcome;
  outcome.complaints = all.complaints;
  // Asked to stop in the last round of all, nothing was left to stop.
  outcome.stopped = all.stopped && all.complete < grid.experiments.size();
  for (const auto& entry : all.ids) {
    auto record = store.run(entry.second);
    if (!record) return record.error();
    outcome.runs.push_back(std::move(*record));
  }
  return outcome;
}

Result<GridOutcome> follow_with_progress(const sim::Grid& grid, const RunOptions& options,
                                         const Communicator& ranks) {
  sim::DatasetCache data(sim::default_sources(options.data));
  const sim::ResolvedExperiment& experiment = grid.experiments.front();
  {
    // Rank 0 alone decides when to stop; here a signal is heard so that it does not end the job.
    const StopSignals signals;
    sim::follow(
        experiment, [&] { return data.get(experiment.data); }, {.threads = threads_for(options)},
        ranks);
  }
  if (const Result<void> done = agree(ranks, {}); !done) return done.error();
  GridShare all = joined(ranks, {});
  return GridOutcome{.runs = {},
                     .complaints = std::move(all.complaints),
                     .stopped = all.stopped && all.complete < grid.experiments.size()};
}

}  // namespace boba::tools
