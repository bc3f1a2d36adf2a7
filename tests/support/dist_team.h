// Ranks that are threads of the test: what boba/dist does with MPI, without starting a process.
#pragma once

#include <functional>

#include "boba/dist/communicator.h"

namespace boba::test {

// Calls body once per rank, each in a thread of its own. A rank that throws ends the others' waits;
// so does one that waits for 20 seconds. The first exception is thrown again here.
void run_ranks(int ranks, const std::function<void(const Communicator&)>& body);

}  // namespace boba::test
