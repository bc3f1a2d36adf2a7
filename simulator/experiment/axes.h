// The values that an experiment file and its overrides give to keys, with where each stands.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"
#include "simulator/experiment/grid.h"
#include "simulator/experiment/keys.h"
#include "simulator/experiment/value.h"

namespace boba::sim {

struct AxisValue {
  Value value;
  std::string where;  // "mnist.toml:12", "--set seed=1"
  std::string hint;   // what to say after an error about it; may be empty
};

// One key; a sweep where it has several values.
struct Axis {
  const Key* key = nullptr;
  bool is_override = false;
  std::vector<AxisValue> values;
};

// In the order of the file; an override takes the place of its key, or comes after. Every value has
// its key's type and range.
Result<std::vector<Axis>> read_axes(std::string_view toml, std::string_view origin,
                                    std::span<const Override> overrides);

// What the value's place adds to a message about it.
Error placed(const AxisValue& value, std::string_view message);

}  // namespace boba::sim
