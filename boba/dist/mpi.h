// MPI, or its absence.
#pragma once

#include <memory>

#include "boba/core/result.h"
#include "boba/dist/communicator.h"

namespace boba {

// Whether this build has it.
bool mpi_built();

// All processes of the job; see launch.h.
Result<std::unique_ptr<Communicator>> join_mpi();

}  // namespace boba
