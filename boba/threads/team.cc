#include "boba/threads/team.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace boba {
namespace {

// A member looks so often whether the others are done before it sleeps: stages are short, and
// waking up takes longer.
constexpr int kLooksBeforeSleep = 4000;

class StageGate {
 public:
  // The next job of this stage.
  std::size_t take() { return next_.fetch_add(1, std::memory_order_relaxed); }

  // Returns when all members have called it; the job counter then starts again.
  void arrive_and_wait(int size) {
    const unsigned now = generation_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size) {
      arrived_.store(0, std::memory_order_relaxed);
      next_.store(0, std::memory_order_relaxed);
      generation_.store(now + 1, std::memory_order_release);
      generation_.notify_all();
      return;
    }
    for (int look = 0; look < kLooksBeforeSleep; ++look) {
      if (generation_.load(std::memory_order_acquire) != now) return;
    }
    generation_.wait(now, std::memory_order_acquire);
  }

 private:
  std::atomic<std::size_t> next_{0};
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> generation_{0};
};

}  // namespace

int usable_processors() {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void run_team(int threads, const std::function<void(int, int)>& body) {
  if (threads <= 1) {
    body(0, 1);
    return;
  }
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
  std::vector<std::thread> helpers;
  helpers.reserve(static_cast<std::size_t>(threads - 1));
  std::atomic<int> size{0};  // known, and nonzero, once all members exist
  const auto take_part = [&](int member) {
    size.wait(0);
    try {
      body(member, size.load());
    } catch (...) {
      failures[static_cast<std::size_t>(member)] = std::current_exception();
    }
  };
  try {
    for (int member = 1; member < threads; ++member) helpers.emplace_back(take_part, member);
  } catch (const std::exception&) {
    // The system starts no more threads: the members so far do all the work.
  }
  size.store(1 + static_cast<int>(helpers.size()));
  size.notify_all();
  take_part(0);
  for (std::thread& helper : helpers) helper.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

void run_stages(int threads, std::size_t stages,
                const std::function<std::size_t(std::size_t)>& jobs,
                const std::function<void(std::size_t, std::size_t, int)>& body) {
  StageGate gate;
  std::atomic<bool> failed{false};
  run_team(threads, [&](int member, int size) {
    std::exception_ptr failure;
    for (std::size_t stage = 0; stage < stages; ++stage) {
      try {
        const std::size_t count = jobs(stage);
        for (std::size_t job = gate.take(); job < count && !failed.load(); job = gate.take()) {
          body(stage, job, member);
        }
      } catch (...) {
        // The others may be waiting at the gate, so this member still goes through all stages.
        failure = std::current_exception();
        failed.store(true);
      }
      gate.arrive_and_wait(size);
    }
    if (failure) std::rethrow_exception(failure);
  });
}

void run_jobs(int threads, std::size_t jobs, const std::function<void(std::size_t, int)>& body) {
  const auto most = static_cast<int>(std::min<std::size_t>(jobs, 1 << 20));
  // How many jobs of a member's range are taken. Each has a cache line of its own.
  struct alignas(64) Range {
    std::atomic<std::size_t> taken{0};
  };
  const int team = std::max(1, std::min(threads, most));
  std::vector<Range> ranges(static_cast<std::size_t>(team));
  std::atomic<bool> stop{false};
  run_team(team, [&](int member, int size) {
    // First its own range, where it has prefetched its next job; then the ranges of the others.
    for (int turn = 0; turn < size; ++turn) {
      const auto owner = static_cast<std::size_t>((member + turn) % size);
      const std::size_t begin = owner * jobs / static_cast<std::size_t>(size);
      const std::size_t end = (owner + 1) * jobs / static_cast<std::size_t>(size);
      for (;;) {
        const std::size_t job = begin + ranges[owner].taken.fetch_add(1);
        if (job >= end || stop.load(std::memory_order_relaxed)) break;
        try {
          body(job, member);
        } catch (...) {
          stop.store(true);
          throw;
        }
      }
    }
  });
}

}  // namespace boba
