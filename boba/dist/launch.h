// How this process was started: by itself, or by mpirun as one of several.
#pragma once

#include <memory>
#include <string>

#include "boba/core/result.h"
#include "boba/dist/communicator.h"

namespace boba {

struct Launch {
  int rank = 0;
  int size = 1;
  int here = 1;  // processes of the job on this machine
};

// From what mpirun leaves in the environment; asking starts nothing.
Launch launched();

// Threads for this process where the user names no number: what it may use, shared with the others
// on this machine unless the launcher gave each its own processors.
int threads_of(const Launch& launch);

// A warning if a launcher that boba does not know started several processes, which then work
// independently; else "".
std::string launch_warning();

// The processes of the launch. MPI starts only where there are several; it ends when the result
// does. Fails where there are several and boba was built without MPI, or with another one than
// their launcher's. Once per process.
Result<std::unique_ptr<Communicator>> join();

}  // namespace boba
