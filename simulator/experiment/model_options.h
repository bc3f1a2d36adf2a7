// The models an experiment may name, with their options.
//
//   mlp(width=200,depth=2)   cnn(channels=32)   gru(units=32,pooling=max)   script
//   and precision=float32 for the first three
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "boba/core/options.h"
#include "boba/core/result.h"

namespace boba::sim {

// Of products on a GPU: TF32, and bfloat16 with float32 sums for convolutions, or float32. A
// processor computes in float32.
enum class GpuPrecision { kMixed, kFloat32 };
inline constexpr std::array<std::string_view, 2> kGpuPrecision = {"mixed", "float32"};
inline constexpr std::string_view kGpuPrecisionHelp =
    "of products on a GPU: mixed is TF32, and bfloat16 with float32 sums for convolutions";

// Dense layers with ReLU between them, then a dense layer to the classes. The defaults are the
// paper's 784-200-200-10.
struct MlpOptions {
  int width = 200;
  int depth = 2;  // hidden layers; 0: softmax regression
  GpuPrecision precision = GpuPrecision::kMixed;

  static constexpr Info info() {
    return {
        .name = "mlp",
        .summary = "dense layers with ReLU, for images",
        .computes =
            "depth hidden layers of width units with ReLU, then a dense layer to the classes; "
            "an image is one long row.",
        .condition = "Needs images.",
        .cost = "one product of matrices per layer",
        .citation =
            "W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label "
            "Skewness. AISTATS 2024.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("width", &MlpOptions::width, "units of a hidden layer").between(1, 65536),
        field("depth", &MlpOptions::depth, "hidden layers").between(0, 16),
        field("precision", &MlpOptions::precision, kGpuPrecisionHelp).one_of(kGpuPrecision)};
  }
};

// conv3x3(k) - pool - conv3x3(2k) - pool - conv3x3(2k) - dense 2k - dense classes with k =
// channels, valid padding, pools of 2x2 maxima, ReLU. The default is the paper's 32-64-64-64.
struct CnnOptions {
  int channels = 32;
  GpuPrecision precision = GpuPrecision::kMixed;

  static constexpr Info info() {
    return {
        .name = "cnn",
        .summary = "three convolutions and two dense layers, for images",
        .computes =
            "Convolutions of 3x3 with channels, twice and twice as many outputs, 2x2 maxima after "
            "the first two, a dense layer of twice channels units, a dense layer to the classes; "
            "no padding, ReLU in between.",
        .condition = "Needs images of at least 18x18.",
        .cost = "the convolutions dominate",
        .citation =
            "W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label "
            "Skewness. AISTATS 2024.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("channels", &CnnOptions::channels,
              "outputs of the first convolution; the others have twice as many")
            .between(1, 4096),
        field("precision", &CnnOptions::precision, kGpuPrecisionHelp).one_of(kGpuPrecision)};
  }
};

// Word vectors that stay as they are, a gated recurrent unit, one number per unit over the real
// positions of a text, a dense layer to the classes.
struct GruOptions {
  enum class Pooling { kMax, kMean };
  static constexpr std::array<std::string_view, 2> kPooling = {"max", "mean"};

  int units = 32;
  Pooling pooling = Pooling::kMax;
  GpuPrecision precision = GpuPrecision::kMixed;

  static constexpr Info info() {
    return {
        .name = "gru",
        .summary = "a gated recurrent unit over word vectors, for texts",
        .computes =
            "Pretrained word vectors that are not trained, a gated recurrent unit, the maximum or "
            "the mean of its outputs over the words of a text, a dense layer to the classes.",
        .condition = "Needs texts.",
        .cost = "one step per word",
        .citation =
            "W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label "
            "Skewness. AISTATS 2024.",
    };
  }
  static constexpr auto fields() {
    return std::tuple{
        field("units", &GruOptions::units, "length of the recurrent state").between(1, 65536),
        field("pooling", &GruOptions::pooling, "over the words of a text").one_of(kPooling),
        field("precision", &GruOptions::precision, kGpuPrecisionHelp).one_of(kGpuPrecision)};
  }
};

// The TorchScript file of model.script.
struct ScriptOptions {
  static constexpr Info info() {
    return {
        .name = "script",
        .summary = "a TorchScript module of yours",
        .computes =
            "The module in the file model.script: a batch of inputs in, a batch of scores of the "
            "classes out.",
        .condition = "model.script names the file.",
        .cost = "the module's own",
        .citation = "",
    };
  }
  static constexpr auto fields() { return std::tuple<>{}; }
};

using ModelChoice = std::variant<MlpOptions, CnnOptions, GruOptions, ScriptOptions>;

// "gru(units=32,pooling=max)".
Result<ModelChoice> parse_model(std::string_view spec);

// The canonical spelling of a choice.
std::string model_spec(const ModelChoice& choice);

using ModelEntry = Entry<ModelChoice>;
std::span<const ModelEntry> models();

}  // namespace boba::sim
