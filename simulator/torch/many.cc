#include "simulator/torch/many.h"

#include <limits>
#include <tuple>
#include <type_traits>
#include <variant>

#include "simulator/experiment/model_options.h"
#include "simulator/torch/many_conv.h"
#include "simulator/torch/network.h"

namespace boba::sim {
namespace {

using torch::Tensor;

// x: (clients, examples, inputs), weight: (clients, outputs, inputs), bias: (clients, outputs).
Tensor dense(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return torch::baddbmm(bias.unsqueeze(1), x, weight.transpose(1, 2));
}

class ManyMlp final : public ManyNetwork {
 public:
  Tensor kept(const Tensor& inputs) const override { return inputs.flatten(1); }

  Tensor forward(const std::vector<Tensor>& p, const Tensor& inputs,
                 bool /*shared*/) const override {
    Tensor x = inputs;
    for (std::size_t i = 0; i + 2 < p.size(); i += 2) x = torch::relu(dense(x, p[i], p[i + 1]));
    return dense(x, p[p.size() - 2], p[p.size() - 1]);
  }
};

class ManyCnn final : public ManyNetwork {
 public:
  explicit ManyCnn(bool short_numbers) : type_(short_numbers ? torch::kBFloat16 : torch::kFloat) {}

  Tensor kept(const Tensor& inputs) const override {
    // A piece at a time: in between the images take more room than in the end.
    std::vector<Tensor> pieces;
    for (const Tensor& piece : inputs.split(kPiece)) {
      pieces.push_back(lay_out(piece.permute({0, 2, 3, 1}).to(type_).contiguous()));
    }
    return torch::cat(pieces);
  }

  Tensor forward(const std::vector<Tensor>& p, const Tensor& inputs, bool shared) const override {
    const std::int64_t clients = inputs.size(0);
    const std::int64_t examples = inputs.size(1);
    Tensor x = many_laid_out_conv_pool(inputs.flatten(0, 1), p[0], p[1], shared);
    x = many_relu_pool(many_conv3x3(x, p[2], p[3], shared));
    x = torch::relu(many_conv3x3(x, p[4], p[5], shared));
    // The dense layers know the order channel, height, width.
    x = x.permute({0, 3, 1, 2}).reshape({clients, examples, -1}).to(torch::kFloat);
    x = torch::relu(dense(x, p[6], p[7]));
    return dense(x, p[8], p[9]);
  }

 private:
  static constexpr std::int64_t kPiece = 5000;
  torch::ScalarType type_;
};

class ManyGru final : public ManyNetwork {
 public:
  ManyGru(const GruOptions& options, const Dataset& dataset, const torch::Device& device)
      : units_(options.units),
        maximum_(options.pooling == GruOptions::Pooling::kMax),
        vectors_(word_vectors(dataset).to(device)) {}

  Tensor kept(const Tensor& inputs) const override { return inputs; }

  Tensor forward(const std::vector<Tensor>& p, const Tensor& words,
                 bool /*shared*/) const override {
    const std::int64_t clients = words.size(0);
    const std::int64_t examples = words.size(1);
    const std::int64_t length = words.size(2);
    const Tensor x = torch::embedding(vectors_, words.reshape({clients, -1}));
    // Time first, so that a step reads one run of memory.
    const Tensor gates = dense(x, p[0], p[2])
                             .view({clients, examples, length, 3 * units_})
                             .permute({2, 0, 1, 3})
                             .contiguous();
    Tensor state = torch::zeros({clients, examples, units_}, x.options());
    std::vector<Tensor> states;
    for (const Tensor& step : gates.unbind(0)) {
      state = next(step, dense(state, p[1], p[3]), state);
      states.push_back(state);
    }
    return dense(pooled(torch::stack(states), words), p[4], p[5]);
  }

 private:
  // Gates in the order reset, update, new; bias and all.
  static Tensor next(const Tensor& input, const Tensor& hidden, const Tensor& state) {
    if (state.is_cuda()) {
      const auto cell =
          at::_thnn_fused_gru_cell(input.flatten(0, 1), hidden.flatten(0, 1), state.flatten(0, 1));
      return std::get<0>(cell).view(state.sizes());
    }
    const auto from_input = input.chunk(3, 2);
    const auto from_hidden = hidden.chunk(3, 2);
    const Tensor reset = torch::sigmoid(from_input[0] + from_hidden[0]);
    const Tensor update = torch::sigmoid(from_input[1] + from_hidden[1]);
    const Tensor fresh = torch::tanh(from_input[2] + reset * from_hidden[2]);
    return fresh + update * (state - fresh);
  }

  // One number per unit over the words of a text.
  Tensor pooled(const Tensor& states, const Tensor& words) const {
    const Tensor past = (words == kNoWord).permute({2, 0, 1}).unsqueeze(3);
    if (maximum_) {
      // A text without a word has no maximum: its first position stands for it.
      Tensor hidden = past.clone();
      hidden[0].fill_(false);
      return std::get<0>(
          states.masked_fill(hidden, -std::numeric_limits<float>::infinity()).max(0));
    }
    const Tensor count = past.logical_not().sum(0).clamp_min(1);
    return states.masked_fill(past, 0.0).sum(0) / count;
  }

  std::int64_t units_;
  bool maximum_;
  Tensor vectors_;
};

}  // namespace

bool wants_float32(const ModelChoice& model) {
  return std::visit(
      [](const auto& options) {
        if constexpr (std::is_same_v<decltype(options), const ScriptOptions&>) {
          return false;
        } else {
          return options.precision == GpuPrecision::kFloat32;
        }
      },
      model);
}

std::unique_ptr<ManyNetwork> make_many(const ModelChoice& model, const Dataset& dataset,
                                       const torch::Device& device) {
  if (std::holds_alternative<ScriptOptions>(model)) return nullptr;
  if (const auto* gru = std::get_if<GruOptions>(&model)) {
    return std::make_unique<ManyGru>(*gru, dataset, device);
  }
  if (std::holds_alternative<CnnOptions>(model)) {
    return std::make_unique<ManyCnn>(device.is_cuda() && !wants_float32(model));
  }
  return std::make_unique<ManyMlp>();
}

}  // namespace boba::sim
