// Checkpoint: the state between two rounds, as safetensors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"

namespace boba::sim {

struct Checkpoint {
  int round = 0;                  // rounds done
  std::vector<float> parameters;  // w
  std::vector<float> velocity;    // of the server's momentum; empty without
  std::string memory;             // saved, of a rule that remembers; empty without
};

std::string pack(const Checkpoint& checkpoint);
// Refuses what does not have the given length, or is damaged.
Result<Checkpoint> unpack(std::string_view bytes, std::size_t length, bool momentum);

}  // namespace boba::sim
