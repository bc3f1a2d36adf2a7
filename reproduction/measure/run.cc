#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <optional>
#include <set>
#include <tuple>

#include "boba/threads/team.h"
#include "reproduction/measure/measure.h"
#include "reproduction/measure/probe.h"
#include "reproduction/progress.h"

namespace boba::reproduction {
namespace {

struct Task {
  std::string what;
  std::optional<sim::ResolvedExperiment> experiment;  // none of a picture
  std::string config;
  std::uint64_t seed = 1;
};

Result<std::vector<Task>> tasks_of(const PaperFile& file, const PaperOptions& options) {
  std::vector<Task> tasks;
  if (file.kind == Kind::kPicture) {
    for (int seed = 1; seed <= picture_seeds(file, options); ++seed) {
      tasks.push_back({.what = fmt::format("seed {}", seed),
                       .experiment = {},
                       .config = picture_config(options.quick),
                       .seed = static_cast<std::uint64_t>(seed)});
    }
    return tasks;
  }
  auto expanded = expand(file, options);
  if (!expanded) return expanded.error();
  for (const PaperRun& run : expanded->runs) {
    const sim::ResolvedExperiment& e = run.experiment;
    tasks.push_back(
        {.what = fmt::format("{}  {}  {}  seed {}", e.data.partition, e.rule, e.attack, e.seed),
         .experiment = e,
         .config = sim::canonical_text(e),
         .seed = e.seed});
  }
  return tasks;
}

using Known = std::set<std::tuple<std::string, std::string, std::uint64_t>>;

Result<Known> known_measurements(const sim::Store& store, const std::string& experiment) {
  const auto records = store.measurements(experiment);
  if (!records) return records.error();
  Known known;
  for (const sim::MeasurementRecord& record : *records) {
    known.insert({record.config, record.data, record.seed});
  }
  return known;
}

class Measurer {
 public:
  Measurer(const PaperFile& file, const MeasureOptions& options, sim::DatasetCache& data,
           sim::Store& store)
      : file_(file), options_(options), data_(data), store_(store) {
    place_.device = options.device;
    place_.threads = options.threads > 0 ? options.threads : usable_processors();
  }

  Result<void> look_around() {
    auto machine = machine_of(place_);
    if (!machine) return machine.error();
    machine_ = *std::move(machine);
    return {};
  }

  // The checksum of the task's data; "" where it needs none.
  Result<std::string> data_of(const Task& task) {
    if (file_.kind == Kind::kPicture) return std::string();
    auto dataset = data_.get(task.experiment->data);
    if (!dataset) return dataset.error();
    dataset_ = *dataset;
    return dataset_->checksum;
  }

  Result<Points> measure(const Task& task) {
    try {
      return compute(task);
    } catch (const std::bad_alloc&) {
      return Error{ErrorCode::kInternal, "out of memory"};
    } catch (const std::exception& error) {
      return Error{ErrorCode::kInternal, error.what()};
    }
  }

  Result<void> keep(const Task& task, const std::string& data, double seconds, Points points) {
    sim::MeasurementRecord record;
    record.experiment = file_.name;
    record.config = task.config;
    record.data = data;
    record.seed = task.seed;
    record.version = BOBA_VERSION;
    record.machine =
        place_.device == "cpu" ? fmt::format("cpu, {} threads", place_.threads) : place_.device;
    record.seconds = seconds;
    record.points = std::move(points);
    return store_.write_measurement(record);
  }

 private:
  Result<Points> compute(const Task& task) {
    switch (file_.kind) {
      case Kind::kPca:
        return measure_pca(*task.experiment, *dataset_, place_);
      case Kind::kTime:
        return measure_time(*task.experiment, *dataset_, place_);
      case Kind::kLossRatio:
        return measure_loss_ratio(*task.experiment, *dataset_, place_);
      default:
        return measure_picture(task.seed, options_.paper.quick);
    }
  }

  const PaperFile& file_;
  const MeasureOptions& options_;
  sim::DatasetCache& data_;
  sim::Store& store_;
  sim::Place place_;
  std::string machine_;
  std::shared_ptr<const sim::Dataset> dataset_;
};

}  // namespace

Result<MeasureOutcome> run_measurements(const PaperFile& file, const MeasureOptions& options,
                                        sim::DatasetCache& data, sim::Store& store,
                                        const MeasureObserver& observer) {
  const auto tasks = tasks_of(file, options.paper);
  if (!tasks) return tasks.error();
  const auto known = known_measurements(store, file.name);
  if (!known) return known.error();
  Measurer measurer(file, options, data, store);
  if (Result<void> ready = measurer.look_around(); !ready) return ready.error();
  MeasureOutcome outcome;
  for (std::size_t i = 0; i < tasks->size(); ++i) {
    const Task& task = (*tasks)[i];
    const auto checksum = measurer.data_of(task);
    if (!checksum) return checksum.error();
    if (!options.again && known->contains({task.config, *checksum, task.seed})) {
      ++outcome.before;
      continue;
    }
    observer(i + 1, tasks->size(), task.what);
    const auto start = std::chrono::steady_clock::now();
    auto points = measurer.measure(task);
    if (!points) return points.error();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const Result<void> kept = measurer.keep(task, *checksum, spent.count(), *std::move(points));
    if (!kept) return kept.error();
    ++outcome.done;
  }
  return outcome;
}

}  // namespace boba::reproduction
