#include "simulator/train/trainer.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <utility>

#include "boba/threads/team.h"
#include "simulator/torch/example_tensors.h"
#include "simulator/torch/guarded.h"
#include "simulator/torch/network_trainer.h"
#include "simulator/torch/process.h"
#include "simulator/train/batches.h"

namespace boba::sim {
namespace {

using torch::Tensor;

constexpr std::int64_t kTestChunk = 500;

// What a thread works with.
struct Worker {
  Tensor flat;  // parameters
  std::unique_ptr<Replica> replica;

  std::span<float> parameters() const {
    return {flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel())};
  }
  void set(std::span<const float> w) const {
    std::copy(w.begin(), w.end(), flat.data_ptr<float>());
  }
};

// The gradient of the mean loss at the worker's parameters; returns the loss.
double gradient(Worker& worker, const ExampleTensors& batch, std::span<float> out) {
  const Tensor loss =
      torch::cross_entropy_loss(worker.replica->forward(batch.inputs), batch.labels);
  const auto gradients = torch::autograd::grad({loss}, worker.replica->parameters(), {},
                                               /*retain_graph=*/false,
                                               /*create_graph=*/false, /*allow_unused=*/true);
  const torch::NoGradGuard no_grad;
  std::size_t at = 0;
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    const std::int64_t count = worker.replica->parameters()[k].numel();
    Tensor to = torch::from_blob(out.data() + at, {count}, torch::kFloat);
    if (gradients[k].defined()) {
      to.copy_(gradients[k].reshape({count}));
    } else {
      to.zero_();  // the network does not use this part
    }
    at += static_cast<std::size_t>(count);
  }
  return loss.item<double>();
}

// What the next step sees.
ExampleTensors next_of(const ExampleTensors& shard, Batches& batches) {
  if (batches.whole()) return shard;
  const std::span<const std::int64_t> chosen = batches.next();
  const Tensor index = torch::tensor(at::ArrayRef(chosen.data(), chosen.size()), torch::kLong);
  return {shard.inputs.index_select(0, index), shard.labels.index_select(0, index)};
}

class TorchTrainer final : public NetworkTrainer {
 public:
  TorchTrainer(const ResolvedExperiment& experiment, const Dataset& dataset,
               const FederationPlan& plan, std::unique_ptr<Network> made, int threads)
      : NetworkTrainer(std::move(made), experiment.seed),
        training_(experiment.training),
        honest_(experiment.federation.honest),
        classes_(dataset.classes.size()),
        tensors_(make_tensors(experiment, dataset, plan, network().channels_last(), threads)) {
    for (int i = 0; i < threads; ++i) {
      Worker worker;
      worker.flat = torch::zeros({static_cast<std::int64_t>(length())});
      worker.replica = network().replica(worker.flat);
      workers_.push_back(std::move(worker));
    }
  }

  Result<void> train(std::span<const float> w, int round, double rate,
                     std::span<const TrainingTask> tasks) override {
    return guarded("training", [&] {
      for (const Worker& worker : workers_) worker.set(w);
      run_jobs(threads(), tasks.size(), [&](std::size_t i, int member) {
        update(workers_[static_cast<std::size_t>(member)], w, round, rate, tasks[i]);
      });
    });
  }

  Result<Evaluation> evaluate(std::span<const float> w) override {
    const std::int64_t count = tensors_.test.labels.numel();
    const auto chunks = static_cast<std::size_t>((count + kTestChunk - 1) / kTestChunk);
    std::vector<Evaluation> parts(chunks);
    const Result<void> done = guarded("evaluation", [&] {
      for (const Worker& worker : workers_) worker.set(w);
      run_jobs(threads(), chunks, [&](std::size_t i, int member) {
        const std::int64_t first = static_cast<std::int64_t>(i) * kTestChunk;
        const std::int64_t size = std::min(kTestChunk, count - first);
        const ExampleTensors chunk{tensors_.test.inputs.narrow(0, first, size),
                                   tensors_.test.labels.narrow(0, first, size)};
        parts[i] = judge(workers_[static_cast<std::size_t>(member)], chunk);
      });
    });
    if (!done) return done.error();
    Evaluation sum{.loss = 0, .confusion = std::vector<std::int64_t>(classes_ * classes_, 0)};
    for (const Evaluation& part : parts) {
      sum.loss += part.loss;
      for (std::size_t k = 0; k < sum.confusion.size(); ++k) {
        sum.confusion[k] += part.confusion[k];
      }
    }
    sum.loss /= static_cast<double>(count);
    return sum;
  }

  Result<void> server_losses(std::span<const std::span<const float>> points,
                             std::span<double> out) override {
    return guarded("the server's loss", [&] {
      const ExampleTensors& shard = tensors_.server_whole;
      run_jobs(threads(), points.size(), [&](std::size_t i, int member) {
        const torch::NoGradGuard no_grad;
        const Worker& worker = workers_[static_cast<std::size_t>(member)];
        worker.set(points[i]);
        out[i] = torch::cross_entropy_loss(worker.replica->forward(shard.inputs), shard.labels)
                     .item<double>();
      });
    });
  }
  std::size_t losses_at_once() const override { return workers_.size(); }

  Result<void> server_gradient(std::span<const float> w, std::span<float> out) override {
    return guarded("the server's gradient", [&] {
      workers_[0].set(w);
      gradient(workers_[0], tensors_.server_whole, out);
    });
  }

 private:
  int threads() const { return static_cast<int>(workers_.size()); }

  const ExampleTensors& tensors_of(const TrainingTask& task) const {
    switch (task.learner) {
      case Learner::kHonest:
        return tensors_.honest[task.index];
      case Learner::kFlipped:
        return tensors_.flipped[task.index];
      case Learner::kServerClass:
        return tensors_.server[task.index];
      case Learner::kServerWhole:
        break;
    }
    return tensors_.server_whole;
  }

  // The local procedure. REQUIRES: the worker's parameters are w where one step is all there is.
  void update(Worker& worker, std::span<const float> w, int round, double rate,
              const TrainingTask& task) const {
    const ExampleTensors& shard = tensors_of(task);
    Batches batches(static_cast<std::size_t>(shard.labels.numel()), training_.batch,
                    batch_key(seed(), round, honest_, task));
    if (training_.algorithm == Algorithm::kFedSgd) {
      gradient(worker, next_of(shard, batches), task.out);
      return;
    }
    worker.set(w);
    const std::span<float> local = worker.parameters();
    const float mu =
        training_.algorithm == Algorithm::kFedProx ? static_cast<float>(training_.mu) : 0.0F;
    const auto step = static_cast<float>(rate);
    for (int k = 0; k < training_.local_steps; ++k) {
      gradient(worker, next_of(shard, batches), task.out);
      for (std::size_t i = 0; i < local.size(); ++i) {
        local[i] -= step * (task.out[i] + mu * (local[i] - w[i]));
      }
    }
    for (std::size_t i = 0; i < local.size(); ++i) task.out[i] = w[i] - local[i];
  }

  Evaluation judge(const Worker& worker, const ExampleTensors& chunk) const {
    const torch::NoGradGuard no_grad;
    const Tensor scores = worker.replica->forward(chunk.inputs);
    Evaluation part{.loss = 0, .confusion = std::vector<std::int64_t>(classes_ * classes_, 0)};
    part.loss =
        torch::cross_entropy_loss(scores, chunk.labels, {}, at::Reduction::Sum).item<double>();
    // What argmax makes of scores that are no numbers depends on where they stand; here it is the
    // first class, as for scores of which none is a number.
    const Tensor predicted =
        scores.argmax(1).masked_fill(torch::isfinite(scores).all(1).logical_not(), 0);
    const auto* const guess = predicted.data_ptr<std::int64_t>();
    const auto* const truth = chunk.labels.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < predicted.numel(); ++i) {
      ++part.confusion[static_cast<std::size_t>(truth[i]) * classes_ +
                       static_cast<std::size_t>(guess[i])];
    }
    return part;
  }

  TrainingSection training_;
  int honest_;
  std::size_t classes_;
  FederationTensors tensors_;
  std::vector<Worker> workers_;
};

}  // namespace

Result<double> TrainerOracle::loss(const UpdateView& point) {
  double loss = 0;
  if (const Result<void> asked = losses(point, {&loss, 1}); !asked) return asked.error();
  return loss;
}

Result<void> TrainerOracle::losses(const UpdateView& points, std::span<double> out) {
  std::vector<std::span<const float>> rows;
  for (std::size_t i = 0; i < points.rows(); ++i) {
    rows.emplace_back(points.row<float>(i), points.length());
  }
  return trainer_.server_losses(rows, out);
}

Result<std::size_t> count_parameters(const ResolvedExperiment& experiment, const Dataset& dataset) {
  std::size_t length = 0;
  Error error;
  const Result<void> done = guarded("preparing the model", [&] {
    const auto network = make_network(experiment, dataset);
    if (network) {
      length = length_of((*network)->layout());
    } else {
      error = network.error();
    }
  });
  if (!done) return done.error();
  if (length == 0) return error;
  return length;
}

Result<std::unique_ptr<Trainer>> make_trainer(const ResolvedExperiment& experiment,
                                              const Dataset& dataset, const FederationPlan& plan,
                                              int threads) {
  prepare_process();
  std::unique_ptr<Trainer> trainer;
  Error error;
  const Result<void> done = guarded("preparing the model", [&] {
    auto network = make_network(experiment, dataset);
    if (!network) {
      error = network.error();
      return;
    }
    trainer = std::make_unique<TorchTrainer>(experiment, dataset, plan, std::move(*network),
                                             std::max(1, threads));
  });
  if (!done) return done.error();
  if (!trainer) return error;
  return trainer;
}

}  // namespace boba::sim
