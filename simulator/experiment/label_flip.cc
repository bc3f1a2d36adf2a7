#include "simulator/experiment/label_flip.h"

#include <string>
#include <vector>

namespace boba::sim {

Result<std::optional<LabelFlipOptions>> parse_label_flip(std::string_view attack) {
  const Result<std::vector<Params>> stages = parse_spec(attack);
  if (!stages) return stages.error();
  if (stages->size() != 1 || stages->front().name != LabelFlipOptions::info().name) {
    return std::optional<LabelFlipOptions>();
  }
  Result<LabelFlipOptions> options = bind<LabelFlipOptions>(stages->front());
  if (!options) return options.error();
  return std::optional(*options);
}

}  // namespace boba::sim
