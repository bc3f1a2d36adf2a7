// Updates whose columns are spread over ranks.
//
// Each rank holds the same columns of every row, and all ranks make the same calls: a rule does not
// notice. Passes that add up products work by chunks of columns (boba/kernels/cpu/chunks.h); the
// running total goes from rank to rank in the order of the chunks, so results have the bits that
// one process with all columns computes. Other passes are local.
#pragma once

#include <cstddef>
#include <memory>

#include "boba/core/kernels.h"
#include "boba/dist/communicator.h"
#include "boba/kernels/cpu/cpu.h"

namespace boba {

// Columns [first, first + length) of whole updates.
struct Shard {
  std::size_t first = 0;
  std::size_t length = 0;
};

// Of so many ranks, those that have columns to hold: a chunk goes to one rank as a whole.
int ranks_in_use(std::size_t length, int ranks);

// REQUIRES: rank < ranks = ranks_in_use(length, ranks).
Shard shard_of(std::size_t length, int rank, int ranks);

// For rows that hold this rank's shard of updates of that length; ranks must outlive the result.
// Unlike other kernels, one call at a time. REQUIRES: ranks_in_use(length, ranks.size()) is
// ranks.size(), and all ranks have the same level of vector instructions.
std::unique_ptr<const Kernels> make_sharded_kernels(const Communicator& ranks, std::size_t length,
                                                    const CpuOptions& options = {});

// The widest vector instructions that every rank's processor has.
SimdLevel common_simd(const Communicator& ranks);

}  // namespace boba
