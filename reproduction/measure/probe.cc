#include "reproduction/measure/probe.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

#include "simulator/train/class_means.h"
#include "simulator/train/plan.h"
#include "simulator/train/schedule.h"

namespace boba::reproduction {
namespace {

class TrainedProbe final : public Probe {
 public:
  TrainedProbe(sim::ResolvedExperiment experiment, sim::FederationPlan plan,
               std::unique_ptr<sim::Trainer> trainer, std::unique_ptr<const Kernels> kernels)
      : experiment_(std::move(experiment)),
        plan_(std::move(plan)),
        trainer_(std::move(trainer)),
        kernels_(std::move(kernels)),
        oracle_(*trainer_) {
    const auto honest = static_cast<std::size_t>(experiment_.federation.honest);
    const auto byzantine = static_cast<std::size_t>(experiment_.federation.byzantine);
    updates_ = make_rows(honest + byzantine);
    server_ = make_rows(plan_.server.size());
    whole_ = make_rows(plan_.server.empty() || is_sgd() ? 0 : 1);
    model_ = make_rows(1);
    out_ = make_rows(1);
    honest_ = RowList(DType::kFloat32, trainer_->length());
    for (std::size_t i = 0; i < honest; ++i) honest_.add(updates_.row(i));
    for (const sim::ShardPlan& shard : plan_.server) {
      counts_.push_back(static_cast<double>(shard.examples.size()));
    }
    const std::vector<float> start = trainer_->initial();
    const float* first = start.data();
    kernels_->put(UpdateView(std::span<const float* const>(&first, 1), start.size()), 0,
                  model_.row(0));
  }

  const Kernels& kernels() const override { return *kernels_; }
  UpdateView honest() const override { return honest_.view(); }
  MutableRow out() override { return out_.row(0); }

  Result<void> train(int round) override {
    number_ = round;
    rate_ = sim::learning_rate(experiment_.training, round);
    std::vector<sim::TrainingTask> tasks;
    for (std::size_t i = 0; i < honest_.rows(); ++i) {
      tasks.push_back({sim::Learner::kHonest, i, updates_.row_as<float>(i)});
    }
    for (std::size_t z = 0; z < server_.rows(); ++z) {
      tasks.push_back({sim::Learner::kServerClass, z, server_.row_as<float>(z)});
    }
    if (whole_.rows() > 0)
      tasks.push_back({sim::Learner::kServerWhole, 0, whole_.row_as<float>(0)});
    const std::span<const float> w(model_.view().row<float>(0), model_.length());
    if (Result<void> done = trainer_->train(w, round, rate_, tasks); !done) return done;
    return forge();
  }

  Round round() override {
    return {.updates = updates_.view(),
            .server = server_.view(),
            .server_counts = counts_,
            .server_whole = whole_.view(),
            .model = model_.view(),
            .learning_rate = step_size(),
            .oracle = plan_.server.empty() ? nullptr : &oracle_,
            .seed = experiment_.seed,
            .number = static_cast<std::uint32_t>(number_)};
  }

  void step() override {
    const double size = -step_size();
    kernels_->combine(out_.view(), {&size, 1}, 1, model_.row(0));
  }

 private:
  bool is_sgd() const { return experiment_.training.algorithm == sim::Algorithm::kFedSgd; }
  // Pseudo-gradients are applied as they are.
  double step_size() const { return is_sgd() ? rate_ : 1.0; }

  UpdateMatrix make_rows(std::size_t rows) const {
    return kernels_->make_rows(DType::kFloat32, rows, trainer_->length());
  }

  Result<void> forge() {
    if (!experiment_.attack_on_updates) return {};
    std::vector<MutableRow> rows;
    for (std::size_t i = honest_.rows(); i < updates_.rows(); ++i) rows.push_back(updates_.row(i));
    const UpdateView server =
        sim::class_means(*kernels_, server_.view(), plan_.server_parts, corners_);
    std::vector<int> clients(honest_.rows());
    std::iota(clients.begin(), clients.end(), 0);
    const std::vector<double> mixes = sim::label_mixes(plan_.clients, clients);
    const auto report =
        experiment_.attack_on_updates->forge(*kernels_,
                                             {.honest = honest_.view(),
                                              .server = server,
                                              .learning_rate = step_size(),
                                              .seed = experiment_.seed,
                                              .number = static_cast<std::uint32_t>(number_),
                                              .label_mixes = mixes},
                                             rows);
    return report ? Result<void>() : report.error();
  }

  sim::ResolvedExperiment experiment_;
  sim::FederationPlan plan_;
  std::unique_ptr<sim::Trainer> trainer_;
  std::unique_ptr<const Kernels> kernels_;
  sim::TrainerOracle oracle_;
  UpdateMatrix updates_;
  UpdateMatrix server_;
  UpdateMatrix corners_;  // means of a class's server rows, where there are several
  UpdateMatrix whole_;
  UpdateMatrix model_;
  UpdateMatrix out_;
  RowList honest_;
  std::vector<double> counts_;
  int number_ = 0;
  double rate_ = 0;
};

}  // namespace

Result<std::string> machine_of(const sim::Place& place) {
  const auto kernels = sim::make_kernels(place);
  if (!kernels) return kernels.error();
  return (*kernels)->name();
}

Result<std::unique_ptr<Probe>> make_probe(const sim::ResolvedExperiment& experiment,
                                          const sim::Dataset& dataset, const sim::Place& place) {
  if (experiment.label_flip) {
    return invalid_argument(
        fmt::format("attack = {} changes data; a measurement can take attacks on updates only",
                    experiment.attack));
  }
  auto kernels = sim::make_kernels(place);
  if (!kernels) return kernels.error();
  auto plan = sim::make_plan(experiment, dataset);
  if (!plan) return plan.error();
  auto trainer = sim::make_trainer(experiment, dataset, *plan, place);
  if (!trainer) return trainer.error();
  return std::unique_ptr<Probe>(std::make_unique<TrainedProbe>(
      experiment, *std::move(plan), *std::move(trainer), *std::move(kernels)));
}

}  // namespace boba::reproduction
