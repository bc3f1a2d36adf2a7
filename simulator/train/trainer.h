// Trainer: what clients and server do with data: local training, losses, evaluation. One model, one
// flat vector of parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boba/core/result.h"
#include "boba/core/round.h"
#include "simulator/data/dataset.h"
#include "simulator/experiment/resolved.h"
#include "simulator/store/safetensors.h"
#include "simulator/train/plan.h"

namespace boba::sim {

// Who trains: an honest client, a Byzantine client on flipped labels, the server on its samples of
// a class, or on all of them.
enum class Learner : std::uint8_t { kHonest, kFlipped, kServerClass, kServerWhole };

struct TrainingTask {
  Learner learner = Learner::kHonest;
  std::size_t index = 0;  // of the client or class
  std::span<float> out;   // its update: a gradient, or for fedavg and fedprox w - w_i
};

struct Evaluation {
  double loss = 0;                      // mean over the test examples
  std::vector<std::int64_t> confusion;  // row: truth, column: prediction
};

// Vectors of its calls lie in the memory of the device that trains, but for initial() and named().
class Trainer {
 public:
  virtual ~Trainer() = default;

  // d.
  virtual std::size_t length() const = 0;
  virtual std::vector<float> initial() const = 0;
  // The parts of a flat vector by name.
  virtual TensorFile named(std::span<const float> parameters) const = 0;

  // Every task's update, starting from w. REQUIRES: rows of length().
  virtual Result<void> train(std::span<const float> w, int round, double rate,
                             std::span<const TrainingTask> tasks) = 0;
  virtual Result<Evaluation> evaluate(std::span<const float> w) = 0;

  // Of all the server's samples. REQUIRES: the server has data.
  // The loss at each of points, and how many of them cost least together.
  virtual Result<void> server_losses(std::span<const std::span<const float>> points,
                                     std::span<double> out) = 0;
  virtual std::size_t losses_at_once() const = 0;
  virtual Result<void> server_gradient(std::span<const float> w, std::span<float> out) = 0;
};

// The server's data, for the rules that ask about it.
class TrainerOracle final : public ServerOracle {
 public:
  explicit TrainerOracle(Trainer& trainer) : trainer_(trainer) {}

  Result<double> loss(const UpdateView& point) override;
  std::size_t at_once() const override { return trainer_.losses_at_once(); }
  Result<void> losses(const UpdateView& points, std::span<double> out) override;
  Result<void> gradient(const UpdateView& point, MutableRow out) override {
    return trainer_.server_gradient({point.row<float>(0), point.length()}, out.as<float>());
  }

 private:
  Trainer& trainer_;
};

// d of the experiment's model for a data set.
Result<std::size_t> count_parameters(const ResolvedExperiment& experiment, const Dataset& dataset);

// On the processor. The work is spread over threads, one client at a time on each; numbers do not
// depend on how many there are. REQUIRES: the plan is the experiment's. threads: at least 1.
Result<std::unique_ptr<Trainer>> make_trainer(const ResolvedExperiment& experiment,
                                              const Dataset& dataset, const FederationPlan& plan,
                                              int threads);

// Whether LibTorch finds a GPU.
Result<void> training_has_gpu();

// All clients at once, on a device that LibTorch knows by this name: "cpu", "cuda", "cuda:1".
// Convolutions on a GPU are in bfloat16 with float32 sums, other products in TF32, unless the model
// wants float32.
Result<std::unique_ptr<Trainer>> make_batched_trainer(const ResolvedExperiment& experiment,
                                                      const Dataset& dataset,
                                                      const FederationPlan& plan,
                                                      const std::string& device, int threads);

}  // namespace boba::sim
