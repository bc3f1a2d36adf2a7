// A team of threads for one call: started, used and joined within it.
#pragma once

#include <cstddef>
#include <functional>

namespace boba {

// Processors that this process may run on, at least 1.
int usable_processors();

// Calls body(member, size) once for each member of the team; the caller is member 0. The team has
// `threads` members, or fewer where the system refuses to start a thread. Once all members have
// ended, the first exception of a member is thrown again here.
void run_team(int threads, const std::function<void(int member, int size)>& body);

// Work in stages. Stage s is the jobs 0 .. jobs(s) - 1; any member may do them, in any order. A
// stage begins when all jobs of the stage before have ended. After an exception the remaining jobs
// are skipped and the exception is thrown here.
void run_stages(int threads, std::size_t stages,
                const std::function<std::size_t(std::size_t stage)>& jobs,
                const std::function<void(std::size_t stage, std::size_t job, int member)>& body);

// A single stage. Each member begins with a range of neighbouring jobs.
void run_jobs(int threads, std::size_t jobs,
              const std::function<void(std::size_t job, int member)>& body);

}  // namespace boba
