// JobQueue: jobs 0, 1, ... handed out to whichever rank asks next.
#pragma once

#include <cstddef>
#include <memory>

#include "boba/dist/communicator.h"

namespace boba {

class JobQueue {
 public:
  // Waits, at the end of rank 0's, until the others' have ended too.
  virtual ~JobQueue() = default;

  // The next job, or jobs or more where none is left. From any thread.
  virtual std::size_t next() = 0;
};

// All ranks together. Until its end no other call of any of these ranks' communicators may be made:
// rank 0 answers from a thread of its own.
std::unique_ptr<JobQueue> make_job_queue(const Communicator& ranks, std::size_t jobs);

}  // namespace boba
