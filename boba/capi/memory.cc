#include "boba/core/memory.h"

#include <utility>

#include "boba/capi/boba.h"
#include "boba/capi/guard.h"
#include "boba/capi/handles.h"

using boba::Memory;
using boba::Result;
using boba::capi::guarded;
using boba::capi::need;

namespace boba::capi {

Memory* memory_of(const boba_round& round) {
  return round.memory == nullptr ? nullptr : &round.memory->memory;
}

}  // namespace boba::capi

boba_status boba_memory_create(size_t most, boba_memory** memory) {
  if (memory != nullptr) *memory = nullptr;
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need("boba_memory_create", {{memory, "memory"}}); !good) return good;
    *memory = new boba_memory{most == 0 ? Memory() : Memory(most), {}};
    return {};
  });
}

void boba_memory_destroy(boba_memory* memory) { delete memory; }

boba_status boba_memory_counts(const boba_memory* memory, size_t* clients, uint64_t* rounds) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need("boba_memory_counts",
                                 {{memory, "memory"}, {clients, "clients"}, {rounds, "rounds"}});
        !good) {
      return good;
    }
    *clients = memory->memory.clients();
    *rounds = memory->memory.rounds();
    return {};
  });
}

boba_status boba_memory_save(boba_memory* memory, const void** bytes, size_t* count) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good =
            need("boba_memory_save", {{memory, "memory"}, {bytes, "bytes"}, {count, "count"}});
        !good) {
      return good;
    }
    memory->saved = memory->memory.save();
    *bytes = memory->saved.data();
    *count = memory->saved.size();
    return {};
  });
}

boba_status boba_memory_load(const void* bytes, size_t count, boba_memory** memory) {
  if (memory != nullptr) *memory = nullptr;
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need("boba_memory_load", {{bytes, "bytes"}, {memory, "memory"}});
        !good) {
      return good;
    }
    Result<Memory> loaded = Memory::load({static_cast<const char*>(bytes), count});
    if (!loaded) return loaded.error();
    *memory = new boba_memory{*std::move(loaded), {}};
    return {};
  });
}
