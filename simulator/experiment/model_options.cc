#include "simulator/experiment/model_options.h"

#include <fmt/format.h>

#include "boba/text/names.h"

namespace boba::sim {
namespace {

struct ModelEntry {
  Info info;
  Result<ModelChoice> (*make)(const Params& params);
};

template <class Options>
constexpr ModelEntry model() {
  return {Options::info(), [](const Params& params) -> Result<ModelChoice> {
            Result<Options> options = bind<Options>(params);
            if (!options) return options.error();
            return ModelChoice(*options);
          }};
}

constexpr ModelEntry kModels[] = {model<MlpOptions>(), model<CnnOptions>(), model<GruOptions>(),
                                  model<ScriptOptions>()};

constexpr ModelInfo kInfos[] = {{MlpOptions::info(), &describe<MlpOptions>},
                                {CnnOptions::info(), &describe<CnnOptions>},
                                {GruOptions::info(), &describe<GruOptions>},
                                {ScriptOptions::info(), &describe<ScriptOptions>}};

}  // namespace

Result<ModelChoice> parse_model(std::string_view spec) {
  const Result<std::vector<Params>> stages = parse_spec(spec);
  if (!stages) return stages.error();
  if (stages->size() != 1) {
    return invalid_argument(
        fmt::format("a model stands alone; got {} stages in '{}'", stages->size(), spec));
  }
  const Params& params = stages->front();
  std::vector<std::string_view> names;
  for (const ModelEntry& entry : kModels) {
    if (entry.info.name == params.name) return entry.make(params);
    names.push_back(entry.info.name);
  }
  const std::string close = suggestion(params.name, names);
  return invalid_argument(fmt::format("no model '{}'{} models are: {}", params.name,
                                      close.empty() ? ";" : close, join(names)));
}

std::string model_spec(const ModelChoice& choice) {
  return std::visit([](const auto& options) { return canonical(options); }, choice);
}

std::span<const ModelInfo> models() { return kInfos; }

}  // namespace boba::sim
