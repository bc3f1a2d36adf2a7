#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <filesystem>
#include <utility>

#include "simulator/torch/network.h"

namespace boba::sim {
namespace {

using torch::Tensor;

class ScriptReplica final : public Replica {
 public:
  ScriptReplica(torch::jit::Module module, const Tensor& flat,
                const std::vector<ParameterPart>& layout, const Tensor& vectors)
      : Replica({}), module_(std::move(module)), vectors_(vectors) {
    const std::vector<Tensor> views = leaf_views(flat, layout);
    std::size_t k = 0;
    for (const Tensor& parameter : module_.parameters()) {
      parameter.set_data(views[k++]);
      parameter.set_requires_grad(true);
      parameters_.push_back(parameter);
    }
  }

  Tensor forward(const Tensor& inputs) override {
    const Tensor x = vectors_.defined() ? torch::embedding(vectors_, inputs) : inputs;
    return module_.forward({x}).toTensor();
  }

 private:
  torch::jit::Module module_;
  Tensor vectors_;  // texts only
};

class ScriptNetwork final : public Network {
 public:
  ScriptNetwork(torch::jit::Module module, Tensor vectors)
      : module_(std::move(module)), vectors_(std::move(vectors)) {
    for (const auto& parameter : module_.named_parameters()) {
      layout_.push_back({parameter.name, parameter.value.sizes().vec(), 0});
    }
  }

  const std::vector<ParameterPart>& layout() const override { return layout_; }

  // The numbers that the file holds, whatever the seed.
  void initialise(std::uint64_t /*seed*/, std::span<float> parameters) const override {
    std::size_t at = 0;
    for (const auto& parameter : module_.named_parameters()) {
      const Tensor flat = parameter.value.detach().contiguous().flatten();
      const float* values = flat.data_ptr<float>();
      for (std::int64_t i = 0; i < flat.numel(); ++i) parameters[at++] = values[i];
    }
  }

  std::unique_ptr<Replica> replica(const Tensor& flat) const override {
    if (flat.device().is_cpu()) {
      return std::make_unique<ScriptReplica>(module_.clone(), flat, layout_, vectors_);
    }
    torch::jit::Module there = module_.deepcopy();
    there.to(flat.device());
    return std::make_unique<ScriptReplica>(
        std::move(there), flat, layout_,
        vectors_.defined() ? vectors_.to(flat.device()) : torch::Tensor());
  }

 private:
  torch::jit::Module module_;
  std::vector<ParameterPart> layout_;
  Tensor vectors_;
};

Tensor sample_inputs(const Dataset& dataset) {
  if (dataset.kind == DataKind::kText) {
    return torch::ones({2, static_cast<std::int64_t>(dataset.length)}, torch::kLong);
  }
  return torch::zeros({2, static_cast<std::int64_t>(dataset.image.channels),
                       static_cast<std::int64_t>(dataset.image.height),
                       static_cast<std::int64_t>(dataset.image.width)});
}

// Runs two examples through the model: what does not fit the data set is told before training.
Result<void> try_out(const Network& network, const Dataset& dataset, const std::string& file) {
  const Tensor flat = torch::zeros(static_cast<std::int64_t>(length_of(network.layout())));
  network.initialise(0, {flat.data_ptr<float>(), static_cast<std::size_t>(flat.numel())});
  const auto replica = network.replica(flat);
  const Tensor scores = replica->forward(sample_inputs(dataset));
  const auto classes = static_cast<std::int64_t>(dataset.classes.size());
  if (scores.dim() == 2 && scores.size(0) == 2 && scores.size(1) == classes &&
      scores.scalar_type() == torch::kFloat) {
    return {};
  }
  const auto sizes = scores.sizes().vec();
  return invalid_argument(fmt::format("{}: a batch of 2 gives scores of {} {}; {} needs float 2x{}",
                                      file, c10::toString(scores.scalar_type()),
                                      fmt::join(sizes, "x"), dataset.name, classes));
}

}  // namespace

Result<std::unique_ptr<Network>> load_script(const std::string& file, const Dataset& dataset) {
  if (!std::filesystem::is_regular_file(file)) {
    return Error{ErrorCode::kIo, fmt::format("model.script = \"{}\": no such file", file)};
  }
  // An executor that watches the first calls and then rewrites the graph would make a run depend on
  // how many calls came before.
  torch::jit::getProfilingMode() = false;
  torch::jit::getExecutorMode() = false;
  try {
    torch::jit::Module module = torch::jit::load(file, torch::kCPU);
    module.eval();
    for (const auto& parameter : module.named_parameters()) {
      if (parameter.value.scalar_type() != torch::kFloat) {
        return invalid_argument(fmt::format("{}: parameter {} is {}; only float is trained", file,
                                            parameter.name,
                                            c10::toString(parameter.value.scalar_type())));
      }
    }
    auto network = std::make_unique<ScriptNetwork>(
        std::move(module),
        dataset.kind == DataKind::kText ? word_vectors(dataset) : torch::Tensor());
    if (network->layout().empty()) {
      return invalid_argument(fmt::format("{}: the module has no parameter to train", file));
    }
    const Result<void> fits = try_out(*network, dataset, file);
    if (!fits) return fits.error();
    return std::unique_ptr<Network>(std::move(network));
  } catch (const c10::Error& error) {
    return invalid_argument(fmt::format("{}: not a TorchScript module for this data set: {}", file,
                                        error.what_without_backtrace()));
  } catch (const std::exception& error) {
    return invalid_argument(
        fmt::format("{}: not a TorchScript module for this data set: {}", file, error.what()));
  }
}

}  // namespace boba::sim
