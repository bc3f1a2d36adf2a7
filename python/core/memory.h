// A memory of earlier rounds, as Python holds it.
#pragma once

#include <mutex>
#include <utility>

#include "boba/core/memory.h"

namespace boba::python {

// Threads of Python that use one memory take turns.
struct HeldMemory {
  explicit HeldMemory(Memory from) : memory(std::move(from)) {}

  Memory memory;
  std::mutex turn;
};

// body(memory) when its turn comes; body(nullptr) for None. REQUIRES: the caller does not hold the
// interpreter's lock, which the thread whose turn it is may need.
template <class Body>
auto in_turn(HeldMemory* held, Body body) {
  if (held == nullptr) return body(static_cast<Memory*>(nullptr));
  const std::scoped_lock turn(held->turn);
  return body(&held->memory);
}

}  // namespace boba::python
