// The database of a job of several ranks.
#pragma once

#include <optional>
#include <string>

#include "boba/core/result.h"
#include "boba/dist/communicator.h"
#include "simulator/store/store.h"

namespace boba::tools {

// All ranks write into it. Rank 0 makes it where it is not there. A rank that sees no database, or
// another one under the same name, is an error: its runs would be missing from rank 0's.
//
// Here and below: all ranks together, with one outcome for all.
Result<std::optional<sim::Store>> open_shared_store(const Communicator& ranks,
                                                    const std::string& file);

// Rank 0 alone writes into it; nothing on the others.
Result<std::optional<sim::Store>> open_first_store(const Communicator& ranks,
                                                   const std::string& file);

}  // namespace boba::tools
