#include "simulator/experiment/model_options.h"

#include "boba/text/names.h"
namespace boba::sim {
namespace {

template <class Options>
Result<ModelChoice> choose(const Options& options) {
  return ModelChoice(options);
}

template <class Options>
constexpr ModelEntry model() {
  return entry<Options, ModelChoice, choose<Options>>();
}

constexpr ModelEntry kModels[] = {model<MlpOptions>(), model<CnnOptions>(), model<GruOptions>(),
                                  model<ScriptOptions>()};

}  // namespace

Result<ModelChoice> parse_model(std::string_view spec) {
  return make_single(models(), "model", spec);
}

std::string model_spec(const ModelChoice& choice) {
  return std::visit([](const auto& options) { return canonical(options); }, choice);
}

std::span<const ModelEntry> models() { return kModels; }

}  // namespace boba::sim
