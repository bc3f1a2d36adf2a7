// All clients at once: parameters have the clients as their first dimension, so that one call of
// autograd gives every client's gradient.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "simulator/torch/example_tensors.h"
#include "simulator/torch/guarded.h"
#include "simulator/torch/many.h"
#include "simulator/torch/network_trainer.h"
#include "simulator/torch/pool.h"
#include "simulator/torch/process.h"
#include "simulator/torch/replay.h"
#include "simulator/train/batches.h"
#include "simulator/train/trainer.h"

namespace boba::sim {
namespace {

using torch::Tensor;

constexpr std::int64_t kBatchedTestChunk = 10000;
constexpr std::int64_t kScriptChunk = 500;  // a script may be of any size
constexpr std::int64_t kProbes = 32;        // points that the server's loss is asked at together

// A part of the flat vector.
struct Part {
  std::int64_t first = 0;
  std::int64_t size = 0;
  std::vector<std::int64_t> shape;
};

std::vector<Part> parts_of(const std::vector<ParameterPart>& layout) {
  std::vector<Part> parts;
  std::int64_t at = 0;
  for (const ParameterPart& part : layout) {
    const auto size = static_cast<std::int64_t>(length_of({part}));
    parts.push_back({at, size, part.shape});
    at += size;
  }
  return parts;
}

// A vector of the caller's on the device, not copied.
Tensor tensor_of(std::span<const float> row, const torch::Device& device) {
  return torch::from_blob(const_cast<float*>(row.data()), {static_cast<std::int64_t>(row.size())},
                          torch::TensorOptions(device).dtype(torch::kFloat));
}

// Rows of the caller's that gradients are written to: one call for each stretch of evenly spaced
// ones.
class Target {
 public:
  Target(const std::vector<std::span<float>>& rows, const torch::Device& device) {
    const auto options = torch::TensorOptions(device).dtype(torch::kFloat);
    const auto length = static_cast<std::ptrdiff_t>(rows.front().size());
    const auto step_at = [&](std::size_t i) { return rows[i + 1].data() - rows[i].data(); };
    for (std::size_t first = 0; first < rows.size();) {
      std::size_t end = first + 1;
      std::ptrdiff_t step = length;
      if (end < rows.size() && step_at(first) >= length) {
        step = step_at(first);
        while (end < rows.size() && step_at(end - 1) == step) ++end;
      }
      stretches_.push_back(torch::from_blob(rows[first].data(),
                                            {static_cast<std::int64_t>(end - first), length},
                                            {step, 1}, options));
      first = end;
    }
  }

  // values: one row after another; zeros where there are none.
  void write(const Part& part, const Tensor& values) const {
    const Tensor by_row = values.defined() ? values.reshape({-1, part.size}) : values;
    std::int64_t first = 0;
    for (const Tensor& stretch : stretches_) {
      const std::int64_t rows = stretch.size(0);
      Tensor to = stretch.narrow(1, part.first, part.size);
      if (values.defined()) {
        to.copy_(by_row.narrow(0, first, rows));
      } else {
        to.zero_();
      }
      first += rows;
    }
  }

 private:
  std::vector<Tensor> stretches_;
};

// Learners that train together.
struct Group {
  std::vector<std::size_t> tasks;  // positions in the round's tasks
  std::vector<Holding> holdings;
  std::optional<Batch> whole;  // where every step sees all examples
};

class BatchedTrainer final : public NetworkTrainer {
 public:
  BatchedTrainer(const ResolvedExperiment& experiment, const Dataset& dataset,
                 const FederationPlan& plan, std::unique_ptr<Network> made,
                 const torch::Device& device, int threads)
      : NetworkTrainer(std::move(made), experiment.seed),
        training_(experiment.training),
        honest_(experiment.federation.honest),
        classes_(static_cast<std::int64_t>(dataset.classes.size())),
        device_(device),
        many_(make_many(experiment.model_choice, dataset, device)),
        parts_(parts_of(network().layout())) {
    const FederationTensors tensors =
        make_tensors(experiment, dataset, plan, network().channels_last(), threads);
    const auto kept = [&](const Tensor& inputs) { return many_ ? many_->kept(inputs) : inputs; };
    pool_.emplace(tensors, device, kept);
    test_ = {kept(tensors.test.inputs.to(device)), tensors.test.labels.to(device)};
    if (many_) return;
    flat_ = torch::zeros({static_cast<std::int64_t>(length())},
                         torch::TensorOptions(device).dtype(torch::kFloat));
    replica_ = network().replica(flat_);
  }

  Result<void> train(std::span<const float> w, int round, double rate,
                     std::span<const TrainingTask> tasks) override {
    return guarded("training", [&] {
      arrange(w, tasks);
      const Tensor start = tensor_of(w, device_);
      const auto all = [&] {
        for (const Group& group : groups_) update(group, start, round, rate, tasks);
      };
      if (replay_) {
        replay_->run(all);
      } else {
        all();
      }
      // The caller measures time, so the work must have ended.
      if (device_.is_cuda()) torch::cuda::synchronize(device_.index());
    });
  }

  Result<Evaluation> evaluate(std::span<const float> w) override {
    Evaluation sum;
    const Result<void> done = guarded("evaluation", [&] {
      const torch::NoGradGuard no_grad;
      const Tensor start = tensor_of(w, device_);
      const std::int64_t count = test_.labels.numel();
      const auto doubles = torch::TensorOptions(device_).dtype(torch::kDouble);
      Tensor loss = torch::zeros({}, doubles);
      Tensor pairs = torch::zeros({classes_ * classes_}, doubles);
      const std::int64_t chunk = many_ ? kBatchedTestChunk : kScriptChunk;
      for (std::int64_t first = 0; first < count; first += chunk) {
        const std::int64_t size = std::min(chunk, count - first);
        const Tensor labels = test_.labels.narrow(0, first, size);
        const Tensor scores = scores_of(start, test_.inputs.narrow(0, first, size));
        loss += torch::cross_entropy_loss(scores, labels, {}, at::Reduction::Sum);
        // As on the processor: scores that are no numbers count as the first class.
        const Tensor guess =
            scores.argmax(1).masked_fill(torch::isfinite(scores).all(1).logical_not(), 0);
        pairs.index_add_(0, labels * classes_ + guess, torch::ones({size}, doubles));
      }
      sum.loss = loss.item<double>() / static_cast<double>(count);
      const Tensor counted = pairs.to(torch::kCPU, torch::kLong);
      sum.confusion.assign(counted.data_ptr<std::int64_t>(),
                           counted.data_ptr<std::int64_t>() + counted.numel());
    });
    if (!done) return done.error();
    return sum;
  }

  Result<void> server_losses(std::span<const std::span<const float>> points,
                             std::span<double> out) override {
    return guarded("the server's loss", [&] {
      const torch::NoGradGuard no_grad;
      for (std::size_t first = 0; first < points.size(); first += losses_at_once()) {
        const std::size_t count = std::min(losses_at_once(), points.size() - first);
        probe(points.subspan(first, count), out.subspan(first, count));
      }
    });
  }
  // As many as train together, where the server has many samples.
  std::size_t losses_at_once() const override {
    if (!many_) return 1;
    const auto samples = pool_->holding({Learner::kServerWhole, 0, {}}).count;
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(kMostExamples / std::max<std::int64_t>(1, samples), 1, kProbes));
  }

  Result<void> server_gradient(std::span<const float> w, std::span<float> out) override {
    return guarded("the server's gradient", [&] {
      const auto gradients =
          gradient(shared_parameters(tensor_of(w, device_), 1), server_batch(), true);
      write(Target({out}, device_), gradients);
    });
  }

 private:
  // Where the server's loss is asked for, hundreds of times a round: always in the same memory. A
  // replay is always of as many points, be some of them those of the last time.
  struct Probes {
    Tensor points;
    Tensor losses;
    std::unique_ptr<Replay> replay;
  };

  Probes& probes() {
    if (!probes_) {
      const auto floats = torch::TensorOptions(device_).dtype(torch::kFloat);
      const auto count = static_cast<std::int64_t>(losses_at_once());
      probes_.emplace(Probes{torch::zeros({count, static_cast<std::int64_t>(length())}, floats),
                             torch::zeros({count}, floats),
                             many_ ? make_replay(device_) : nullptr});
    }
    return *probes_;
  }

  // REQUIRES: no more points than losses_at_once().
  void probe(std::span<const std::span<const float>> points, std::span<double> out) {
    Probes& at = probes();
    for (std::size_t i = 0; i < points.size(); ++i) {
      at.points[static_cast<std::int64_t>(i)].copy_(tensor_of(points[i], device_));
    }
    if (at.replay) {
      at.replay->run([&] { at.losses.copy_(server_losses_at(at.points)); });
    } else {
      const auto count = static_cast<std::int64_t>(points.size());
      at.losses.narrow(0, 0, count).copy_(server_losses_at(at.points.narrow(0, 0, count)));
    }
    const Tensor losses = at.losses.to(torch::kCPU, torch::kDouble);
    std::copy_n(losses.data_ptr<double>(), points.size(), out.begin());
  }

  // One per row.
  Tensor server_losses_at(const Tensor& points) {
    const Batch& batch = server_batch();
    const std::int64_t count = points.size(0);
    if (!many_)
      return torch::cross_entropy_loss(scores_of(points[0], batch.inputs[0]), batch.labels);
    std::vector<std::int64_t> shape = batch.inputs.sizes().vec();
    shape[0] = count;
    const Tensor scores = many_->forward(own_parameters(points), batch.inputs.expand(shape), false);
    return torch::cross_entropy_loss(scores.flatten(0, 1), batch.labels.repeat({count}), {},
                                     at::Reduction::None)
        .view({count, -1})
        .mean(1);
  }

  // Who trains, and from where to where.
  struct Arrangement {
    const float* w = nullptr;
    std::vector<std::pair<Learner, std::size_t>> learners;
    std::vector<float*> rows;
    bool operator==(const Arrangement&) const = default;
  };

  // Groups of the tasks; those of the last round where nothing changed.
  void arrange(std::span<const float> w, std::span<const TrainingTask> tasks) {
    Arrangement now{w.data(), {}, {}};
    std::vector<std::int64_t> counts;
    for (const TrainingTask& task : tasks) {
      now.learners.emplace_back(task.learner, task.index);
      now.rows.push_back(task.out.data());
      counts.push_back(pool_->holding(task).count);
    }
    if (now == arranged_) {
      if (!replay_ && still()) replay_ = make_replay(device_);
      return;
    }
    replay_.reset();
    const bool same_learners = now.learners == arranged_.learners;
    arranged_ = std::move(now);
    if (!same_learners) form_groups(tasks, counts);
  }

  // Whether the same tasks are the same work in every round.
  bool still() const {
    bool whole = training_.algorithm == Algorithm::kFedSgd && many_ != nullptr;
    for (const Group& group : groups_) whole = whole && group.whole;
    return whole;
  }

  void form_groups(std::span<const TrainingTask> tasks, std::span<const std::int64_t> counts) {
    groups_.clear();
    for (const auto& members : grouped(counts)) {
      Group& group = groups_.emplace_back();
      group.tasks = members;
      bool whole = true;
      for (const std::size_t i : members) {
        group.holdings.push_back(pool_->holding(tasks[i]));
        whole = whole && (training_.batch == 0 || counts[i] <= training_.batch);
      }
      if (whole) group.whole = pool_->whole(group.holdings);
    }
  }

  // A script runs client by client.
  std::vector<std::vector<std::size_t>> grouped(std::span<const std::int64_t> counts) const {
    if (many_) return group_by_size(counts);
    std::vector<std::vector<std::size_t>> single;
    for (std::size_t i = 0; i < counts.size(); ++i) single.push_back({i});
    return single;
  }

  // A leaf per part with the clients first, all of them w.
  std::vector<Tensor> shared_parameters(const Tensor& w, std::int64_t clients) const {
    std::vector<Tensor> parameters;
    for (const Part& part : parts_) {
      std::vector<std::int64_t> shape = part.shape;
      shape.insert(shape.begin(), clients);
      const Tensor one = w.narrow(0, part.first, part.size).view(part.shape);
      parameters.push_back(one.unsqueeze(0).expand(shape).detach().requires_grad_(true));
    }
    return parameters;
  }

  // A leaf per part, views of the rows of local.
  std::vector<Tensor> own_parameters(const Tensor& local) const {
    std::vector<Tensor> parameters;
    for (const Part& part : parts_) {
      std::vector<std::int64_t> shape = part.shape;
      shape.insert(shape.begin(), local.size(0));
      parameters.push_back(
          local.narrow(1, part.first, part.size).view(shape).detach().requires_grad_(true));
    }
    return parameters;
  }

  // Of each client's mean loss, per part.
  std::vector<Tensor> gradient(const std::vector<Tensor>& parameters, const Batch& batch,
                               bool shared) {
    Tensor scores;
    std::vector<Tensor> of = parameters;
    if (many_) {
      scores = many_->forward(parameters, batch.inputs, shared).flatten(0, 1);
    } else {
      set_replica(parameters);
      of = replica_->parameters();
      scores = replica_->forward(batch.inputs[0]);
    }
    const Tensor losses = torch::cross_entropy_loss(scores, batch.labels, {}, at::Reduction::None);
    return torch::autograd::grad({(losses * batch.weights).sum()}, of, {},
                                 /*retain_graph=*/false, /*create_graph=*/false,
                                 /*allow_unused=*/true);
  }

  void set_replica(const std::vector<Tensor>& parameters) {
    const torch::NoGradGuard no_grad;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      flat_.narrow(0, parts_[k].first, parts_[k].size).copy_(parameters[k].flatten());
    }
  }

  Tensor scores_of(const Tensor& w, const Tensor& inputs) {
    if (many_) return many_->forward(shared_parameters(w, 1), inputs.unsqueeze(0), true)[0];
    set_replica(shared_parameters(w, 1));
    return replica_->forward(inputs);
  }

  void write(const Target& target, const std::vector<Tensor>& values) const {
    const torch::NoGradGuard no_grad;
    for (std::size_t k = 0; k < parts_.size(); ++k) target.write(parts_[k], values[k]);
  }

  // The local procedure of a group.
  void update(const Group& group, const Tensor& w, int round, double rate,
              std::span<const TrainingTask> tasks) {
    std::vector<Batches> batches;
    std::vector<std::span<float>> rows;
    for (std::size_t i = 0; i < group.tasks.size(); ++i) {
      const TrainingTask& task = tasks[group.tasks[i]];
      rows.push_back(task.out);
      if (group.whole) continue;
      batches.emplace_back(static_cast<std::size_t>(group.holdings[i].count), training_.batch,
                           batch_key(seed(), round, honest_, task));
    }
    const Target target(rows, device_);
    const auto clients = static_cast<std::int64_t>(rows.size());
    if (training_.algorithm == Algorithm::kFedSgd) {
      return write(target, gradient(shared_parameters(w, clients), next_of(group, batches), true));
    }
    const double mu = training_.algorithm == Algorithm::kFedProx ? training_.mu : 0.0;
    Tensor local = w.unsqueeze(0).repeat({clients, 1});
    for (int k = 0; k < training_.local_steps; ++k) {
      const std::vector<Tensor> parameters = own_parameters(local);
      step(parameters, gradient(parameters, next_of(group, batches), false), w, rate, mu);
    }
    const torch::NoGradGuard no_grad;
    local = w.unsqueeze(0) - local;
    for (const Part& part : parts_) target.write(part, local.narrow(1, part.first, part.size));
  }

  // p -= rate * (gradient + mu * (p - w)), for each part in place.
  void step(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
            const Tensor& w, double rate, double mu) const {
    const torch::NoGradGuard no_grad;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      Tensor direction = gradients[k];
      if (mu != 0) {
        const Tensor from = w.narrow(0, parts_[k].first, parts_[k].size).view(parts_[k].shape);
        const Tensor pull = mu * (parameters[k] - from);
        direction = direction.defined() ? direction + pull : pull;
      }
      if (direction.defined()) parameters[k].detach().sub_(direction, rate);
    }
  }

  Batch next_of(const Group& group, std::vector<Batches>& batches) const {
    if (group.whole) return *group.whole;
    std::vector<std::vector<std::int64_t>> chosen;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      auto& places = chosen.emplace_back();
      if (batches[i].whole()) {
        for (std::int64_t k = 0; k < group.holdings[i].count; ++k) places.push_back(k);
      } else {
        const auto next = batches[i].next();
        places.assign(next.begin(), next.end());
      }
    }
    return pool_->some(group.holdings, chosen);
  }

  const Batch& server_batch() {
    if (!server_batch_) {
      const Holding whole = pool_->holding({Learner::kServerWhole, 0, {}});
      server_batch_ = pool_->whole({&whole, 1});
    }
    return *server_batch_;
  }

  TrainingSection training_;
  int honest_;
  std::int64_t classes_;
  torch::Device device_;
  std::unique_ptr<ManyNetwork> many_;  // none for a script
  std::vector<Part> parts_;
  std::optional<Pool> pool_;
  ExampleTensors test_;
  std::optional<Batch> server_batch_;
  std::optional<Probes> probes_;
  Arrangement arranged_;
  std::vector<Group> groups_;
  std::unique_ptr<Replay> replay_;  // where every round is the same work
  Tensor flat_;                     // the script's parameters
  std::unique_ptr<Replica> replica_;
};

}  // namespace

Result<void> training_has_gpu() {
  if (torch::cuda::is_available()) return {};
  return Error{ErrorCode::kUnsupported,
               fmt::format("LibTorch {} of this build finds no GPU; use --device cpu, or build "
                           "with a LibTorch that has CUDA (docs/gpu.md)",
                           TORCH_VERSION)};
}

Result<std::unique_ptr<Trainer>> make_batched_trainer(const ResolvedExperiment& experiment,
                                                      const Dataset& dataset,
                                                      const FederationPlan& plan,
                                                      const std::string& device, int threads) {
  prepare_process();
  std::unique_ptr<Trainer> trainer;
  Error error;
  const Result<void> done = guarded("preparing the model", [&] {
    auto network = make_network(experiment, dataset);
    if (!network) {
      error = network.error();
      return;
    }
    torch::Device where(device);
    if (where.is_cuda() && !where.has_index()) where = torch::Device(torch::kCUDA, 0);
    if (where.is_cuda()) {
      if (const Result<void> there = training_has_gpu(); !there) {
        error = there.error();
        return;
      }
      const bool tf32 = !wants_float32(experiment.model_choice);
      at::globalContext().setAllowTF32CuBLAS(tf32);
      at::globalContext().setAllowTF32CuDNN(tf32);
      // The same experiment gives the same bytes.
      at::globalContext().setDeterministicCuDNN(true);
      at::globalContext().setBenchmarkCuDNN(false);
    }
    trainer = std::make_unique<BatchedTrainer>(experiment, dataset, plan, std::move(*network),
                                               where, std::max(1, threads));
  });
  if (!done) return done.error();
  if (!trainer) return error;
  return trainer;
}

}  // namespace boba::sim
