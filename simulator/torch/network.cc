#include "simulator/torch/network.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>

#include "boba/core/random.h"
#include "simulator/experiment/model_options.h"

namespace boba::sim {
namespace {

using torch::Tensor;

using Forward = std::function<Tensor(const std::vector<Tensor>& parameters, const Tensor& inputs)>;

// A network given by a pure function.
class FunctionNetwork final : public Network {
 public:
  FunctionNetwork(std::vector<ParameterPart> layout, Forward forward, bool channels_last)
      : layout_(std::move(layout)), forward_(std::move(forward)), channels_last_(channels_last) {}

  const std::vector<ParameterPart>& layout() const override { return layout_; }
  bool channels_last() const override { return channels_last_; }

  std::unique_ptr<Replica> replica(const Tensor& flat) const override {
    return std::make_unique<FunctionReplica>(leaf_views(flat, layout_), forward_);
  }

 private:
  class FunctionReplica final : public Replica {
   public:
    FunctionReplica(std::vector<Tensor> parameters, const Forward& forward)
        : Replica(std::move(parameters)), forward_(forward) {}
    Tensor forward(const Tensor& inputs) override { return forward_(parameters_, inputs); }

   private:
    const Forward& forward_;
  };

  std::vector<ParameterPart> layout_;
  Forward forward_;
  bool channels_last_;
};

// The initial bound that the common frameworks use for dense and convolutional layers.
void add_layer(std::vector<ParameterPart>& layout, const std::string& name,
               std::vector<std::int64_t> weight) {
  const std::int64_t fan_in =
      std::accumulate(weight.begin() + 1, weight.end(), std::int64_t{1}, std::multiplies<>());
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  const std::int64_t outputs = weight[0];
  layout.push_back({name + ".weight", std::move(weight), bound});
  layout.push_back({name + ".bias", {outputs}, bound});
}

std::unique_ptr<Network> make_mlp(const MlpOptions& options, const Dataset& dataset) {
  std::vector<ParameterPart> layout;
  auto width = static_cast<std::int64_t>(dataset.image.size());
  for (int i = 0; i < options.depth; ++i) {
    add_layer(layout, fmt::format("hidden{}", i + 1), {options.width, width});
    width = options.width;
  }
  add_layer(layout, "output", {static_cast<std::int64_t>(dataset.classes.size()), width});
  const auto forward = [](const std::vector<Tensor>& p, const Tensor& inputs) {
    Tensor x = inputs.flatten(1);
    for (std::size_t i = 0; i + 2 < p.size(); i += 2) {
      x = torch::relu(torch::addmm(p[i + 1], x, p[i].t()));
    }
    return torch::addmm(p[p.size() - 1], x, p[p.size() - 2].t());
  };
  return std::make_unique<FunctionNetwork>(std::move(layout), forward, false);
}

// The side that three 3x3 convolutions and two pools leave of an image's side; below 1: too small.
std::int64_t cnn_side(std::size_t side) {
  return ((static_cast<std::int64_t>(side) - 2) / 2 - 2) / 2 - 2;
}

Result<std::unique_ptr<Network>> make_cnn(const CnnOptions& options, const Dataset& dataset) {
  const std::int64_t height = cnn_side(dataset.image.height);
  const std::int64_t width = cnn_side(dataset.image.width);
  if (height < 1 || width < 1) {
    return invalid_argument(fmt::format("cnn needs images of at least 18x18; {} has {}x{}",
                                        dataset.name, dataset.image.height, dataset.image.width));
  }
  const std::int64_t k = options.channels;
  std::vector<ParameterPart> layout;
  add_layer(layout, "conv1", {k, static_cast<std::int64_t>(dataset.image.channels), 3, 3});
  add_layer(layout, "conv2", {2 * k, k, 3, 3});
  add_layer(layout, "conv3", {2 * k, 2 * k, 3, 3});
  add_layer(layout, "dense", {2 * k, 2 * k * height * width});
  add_layer(layout, "output", {static_cast<std::int64_t>(dataset.classes.size()), 2 * k});
  const auto forward = [](const std::vector<Tensor>& p, const Tensor& inputs) {
    Tensor x = torch::max_pool2d(torch::relu(torch::conv2d(inputs, p[0], p[1])), 2);
    x = torch::max_pool2d(torch::relu(torch::conv2d(x, p[2], p[3])), 2);
    x = torch::relu(torch::conv2d(x, p[4], p[5])).flatten(1);
    x = torch::relu(torch::addmm(p[7], x, p[6].t()));
    return torch::addmm(p[9], x, p[8].t());
  };
  return std::unique_ptr<Network>(
      std::make_unique<FunctionNetwork>(std::move(layout), forward, true));
}

std::unique_ptr<Network> make_gru(const GruOptions& options, const Dataset& dataset) {
  const std::int64_t units = options.units;
  const double bound = 1.0 / std::sqrt(static_cast<double>(units));
  std::vector<ParameterPart> layout = {
      {"gru.weight_ih", {3 * units, static_cast<std::int64_t>(dataset.vector_length)}, bound},
      {"gru.weight_hh", {3 * units, units}, bound},
      {"gru.bias_ih", {3 * units}, bound},
      {"gru.bias_hh", {3 * units}, bound}};
  add_layer(layout, "output", {static_cast<std::int64_t>(dataset.classes.size()), units});
  const bool maximum = options.pooling == GruOptions::Pooling::kMax;
  const auto forward = [vectors = word_vectors(dataset), units, maximum](
                           const std::vector<Tensor>& p, const Tensor& words) {
    // Time first, as the recurrence wants it.
    const Tensor turned = words.t().contiguous();
    const Tensor x = torch::embedding(vectors, turned);
    const Tensor start = torch::zeros({1, words.size(0), units});
    const Tensor out = std::get<0>(
        torch::gru(x, start, {p[0], p[1], p[2], p[3]}, true, 1, 0.0, false, false, false));
    const Tensor past = (turned == kNoWord).unsqueeze(2);
    Tensor pooled;
    if (maximum) {
      // A text without a word has no maximum, so its first position is used.
      Tensor hidden = past.clone();
      hidden[0].fill_(false);
      pooled = std::get<0>(out.masked_fill(hidden, -std::numeric_limits<float>::infinity()).max(0));
    } else {
      const Tensor count = past.logical_not().sum(0).clamp_min(1);
      pooled = out.masked_fill(past, 0.0).sum(0) / count;
    }
    return torch::addmm(p[5], pooled, p[4].t());
  };
  return std::make_unique<FunctionNetwork>(std::move(layout), forward, false);
}

std::int64_t size_of(const ParameterPart& part) {
  return std::accumulate(part.shape.begin(), part.shape.end(), std::int64_t{1},
                         std::multiplies<>());
}

}  // namespace

std::size_t length_of(const std::vector<ParameterPart>& layout) {
  std::int64_t sum = 0;
  for (const ParameterPart& part : layout) sum += size_of(part);
  return static_cast<std::size_t>(sum);
}

TensorFile name_parts(const std::vector<ParameterPart>& layout, std::span<const float> parameters) {
  TensorFile file;
  std::size_t at = 0;
  for (const ParameterPart& part : layout) {
    const auto count = static_cast<std::size_t>(size_of(part));
    const auto values = parameters.subspan(at, count);
    file.tensors.push_back({part.name, part.shape, {values.begin(), values.end()}});
    at += count;
  }
  return file;
}

void Network::initialise(std::uint64_t seed, std::span<float> parameters) const {
  std::size_t at = 0;
  for (std::size_t k = 0; k < layout().size(); ++k) {
    const ParameterPart& part = layout()[k];
    const StreamKey key{
        .seed = seed, .client = static_cast<std::uint32_t>(k), .purpose = Purpose::kModel};
    const auto count = static_cast<std::size_t>(size_of(part));
    for (std::size_t i = 0; i < count; ++i) {
      parameters[at + i] = static_cast<float>((2 * uniform_at(key, i) - 1) * part.bound);
    }
    at += count;
  }
}

std::vector<Tensor> leaf_views(const Tensor& flat, const std::vector<ParameterPart>& layout) {
  std::vector<Tensor> views;
  std::int64_t at = 0;
  for (const ParameterPart& part : layout) {
    const std::int64_t size = size_of(part);
    Tensor view = flat.detach().narrow(0, at, size).view(part.shape);
    view.set_requires_grad(true);
    views.push_back(std::move(view));
    at += size;
  }
  return views;
}

Tensor word_vectors(const Dataset& dataset) {
  const auto width = static_cast<std::int64_t>(dataset.vector_length);
  const auto rows = static_cast<std::int64_t>(dataset.vectors.size()) / width;
  return torch::tensor(at::ArrayRef<float>(dataset.vectors)).view({rows, width});
}

Result<std::unique_ptr<Network>> make_network(const ResolvedExperiment& experiment,
                                              const Dataset& dataset) {
  const ModelSection& model = experiment.model;
  const ModelChoice& choice = experiment.model_choice;
  const bool text = dataset.kind == DataKind::kText;
  if (std::holds_alternative<ScriptOptions>(choice)) return load_script(model.script, dataset);
  if (std::holds_alternative<GruOptions>(choice) != text) {
    return invalid_argument(fmt::format("model {} does not fit {}, which has {}; use {}",
                                        model.kind, dataset.name, text ? "texts" : "images",
                                        text ? "gru" : "mlp or cnn"));
  }
  if (const auto* gru = std::get_if<GruOptions>(&choice)) return make_gru(*gru, dataset);
  if (const auto* cnn = std::get_if<CnnOptions>(&choice)) return make_cnn(*cnn, dataset);
  return make_mlp(std::get<MlpOptions>(choice), dataset);
}

}  // namespace boba::sim
