// Threads for one call: started, used and joined within it.
#pragma once

#include <cstddef>
#include <functional>

namespace boba::cpu {

// Processors this process may run on, at least 1.
int usable_processors();

// Calls body(member, size) once per member of a team; the caller is member 0. The team has
// `threads` members, or fewer where the system refuses to start a thread. The first exception of
// a member is thrown again here once all have ended.
void run_team(int threads, const std::function<void(int member, int size)>& body);

// Work in stages: stage s is the jobs 0 .. jobs(s) - 1, done in any order by any member, and
// begins when all jobs of the stage before have ended. After an exception the remaining jobs are
// skipped and the exception is thrown here.
void run_stages(int threads, std::size_t stages,
                const std::function<std::size_t(std::size_t stage)>& jobs,
                const std::function<void(std::size_t stage, std::size_t job, int member)>& body);

// A single stage. Each member begins with a range of neighbouring jobs.
void run_jobs(int threads, std::size_t jobs,
              const std::function<void(std::size_t job, int member)>& body);

}  // namespace boba::cpu
