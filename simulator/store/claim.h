// Who holds a run. Its owner is a process of a host, told from a later one with the same number by
// the time it started, from one before the machine started anew by the boot, and from one of
// another container by the namespace of its number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "boba/core/result.h"
#include "simulator/store/sqlite.h"
#include "simulator/store/store.h"

namespace boba::sim::store {

// {"host":"...","pid":123,"start":"456","space":"pid:[789]","boot":"..."} of this process.
std::string this_process();

// Whether the owner may still be at work. idle is how long ago it last wrote, in seconds: all that
// can be known of a process of another host or container, which is given up after ten minutes.
bool is_alive(const std::string& owner, double idle);

// "host7, process 4242, last wrote 2026-03-01T12:00:00Z"; empty for what is no owner.
std::string owner_text(const std::string& owner, const std::string& written);

// What computes a run, as its columns of these names tell.
struct ComputedBy {
  std::string version;
  std::string gpu;
};

// Takes the run for the owner where its last one no longer lives; see Store::claim. by: what will
// compute it; none: the columns stay as they are.
Result<ClaimOutcome> claim(Database& database, std::int64_t run, ClaimMode mode,
                           const std::string& owner, const std::optional<ComputedBy>& by);

}  // namespace boba::sim::store
