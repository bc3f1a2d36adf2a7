// Stages with their names: what a spec puts before or after a rule.
#pragma once

#include <string>

#include "boba/core/rule.h"

namespace boba {

// A stage and its canonical spelling.
struct NamedMix {
  MixStagePtr stage;
  std::string spec;
};
struct NamedBlend {
  BlendStagePtr stage;
  std::string spec;
};

}  // namespace boba
