// One file, many writers: nothing is lost.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "simulator/store/store.h"
#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

constexpr int kWrites = 200;

// body gives the exit status of a new process; the sum over all processes is returned.
int in_processes(int count, const std::function<int(int)>& body) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body(i));
    children.push_back(child);
  }
  int sum = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    sum += WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  return sum;
}

RunHeader header_of(int writer) {
  return sample_header("boba(f=2)", "ipm", static_cast<std::uint64_t>(writer));
}

// Adds a run of its own and writes its rounds.
int write_run(Store& store, int writer) {
  const auto run = store.add_run(header_of(writer));
  if (!run) return 1;
  const auto claimed = store.claim(*run, ClaimMode::kNew);
  if (!claimed || *claimed != ClaimOutcome::kClaimed) return 2;
  if (!store.write_clients(*run, sample_clients())) return 3;
  for (int round = 1; round <= kWrites; ++round) {
    if (!store.write_round(*run, sample_entry(round, {0.5, 0.5, 1}))) return 4;
  }
  return store.finish(*run, "") ? 0 : 5;
}

void expect_complete(const Store& store, int writers) {
  const auto runs = store.runs();
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), static_cast<std::size_t>(writers));
  for (const RunRecord& run : *runs) {
    EXPECT_EQ(run.status, RunStatus::kFinished);
    EXPECT_EQ(run.rounds_done, kWrites);
    EXPECT_NEAR(run.seconds, kWrites * 1.875, 1e-6);
    EXPECT_EQ(store.rounds(run.id)->size(), static_cast<std::size_t>(kWrites));
    EXPECT_EQ(store.evaluations(run.id)->size(), static_cast<std::size_t>(kWrites));
  }
}

TEST(Concurrency, TwoProcessesLoseNothing) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "boba.db";
  // Both open the new file themselves, so that they also meet while it is made.
  const int failures = in_processes(2, [&](int writer) {
    auto store = Store::open(file, OpenMode::kCreate);
    return store ? write_run(*store, writer) : 9;
  });
  EXPECT_EQ(failures, 0);
  const auto store = Store::open(file, OpenMode::kExisting);
  ASSERT_TRUE(store);
  expect_complete(*store, 2);
}

TEST(Concurrency, ManyProcessesMakeOneFile) {
  for (int repeat = 0; repeat < 5; ++repeat) {
    const TemporaryFolder folder;
    const auto file = folder.path() / "boba.db";
    EXPECT_EQ(in_processes(6,
                           [&](int writer) {
                             auto store = Store::open(file, OpenMode::kCreate);
                             if (!store) std::cerr << store.error().message << "\n";
                             return store && store->add_run(header_of(writer % 2)) ? 0 : 1;
                           }),
              0);
    const auto store = Store::open(file, OpenMode::kExisting);
    ASSERT_TRUE(store);
    EXPECT_EQ(store->runs()->size(), 2u);
  }
}

TEST(Concurrency, OfManyProcessesOneClaims) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "boba.db";
  auto store = Store::open(file, OpenMode::kCreate);
  ASSERT_TRUE(store);
  const auto run = store->add_run(header_of(1));
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto own = Store::open(file, OpenMode::kExisting);
      const auto outcome =
          own ? own->claim(*run, ClaimMode::kResume) : Result<ClaimOutcome>(Error{});
      const char letter = !outcome ? 'e' : *outcome == ClaimOutcome::kClaimed ? 'c' : 'b';
      if (::write(gate[1], &letter, 1) != 1) ::_exit(1);
      // Winners live until all have tried: the end of a process would free its run.
      for (;;) ::pause();
    }
    children.push_back(child);
  }
  int claims = 0;
  for (int i = 0; i < 4; ++i) {
    char letter = 0;
    EXPECT_EQ(::read(gate[0], &letter, 1), 1);
    if (letter == 'c') ++claims;
  }
  EXPECT_EQ(claims, 1);
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  ::close(gate[0]);
  ::close(gate[1]);
}

TEST(Concurrency, ThreadsShareAStore) {
  constexpr int kThreads = 4;
  const TemporaryFolder folder;
  auto store = Store::open(folder.path() / "boba.db", OpenMode::kCreate);
  ASSERT_TRUE(store);
  std::atomic<int> failures = 0;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      const auto runs = store->runs("rounds_done>=0");
      if (!runs) ++failures;
      for (const RunRecord& run : *runs) {
        const auto rounds = store->rounds(run.id);
        if (!rounds || rounds->size() < static_cast<std::size_t>(run.rounds_done)) ++failures;
      }
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { failures += write_run(*store, i); });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();
  EXPECT_EQ(failures, 0);
  expect_complete(*store, kThreads);
}

// A reader of another process sees whole rounds only, however the writer ends.
TEST(Concurrency, AKilledWriterLeavesWholeRounds) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "boba.db";
  auto store = Store::open(file, OpenMode::kCreate);
  ASSERT_TRUE(store);
  const pid_t child = ::fork();
  if (child == 0) {
    auto own = Store::open(file, OpenMode::kExisting);
    if (!own) ::_exit(1);
    const auto run = own->add_run(header_of(1));
    if (!run || !own->claim(*run, ClaimMode::kNew)) ::_exit(2);
    for (int round = 1;; ++round) {
      RoundEntry entry = sample_entry(round, {1, 1, 1});
      entry.checkpoint.resize(200000, 'x');
      if (!own->write_round(*run, entry)) ::_exit(3);
    }
  }
  const auto many_rounds = [&] {
    const auto runs = store->runs("rounds_done>=20");
    return runs && !runs->empty();
  };
  for (int i = 0; i < 3000 && !many_rounds(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const auto runs = store->runs();
  ASSERT_EQ(runs->size(), 1u);
  const RunRecord& run = runs->front();
  EXPECT_GE(run.rounds_done, 20);
  EXPECT_EQ(run.status, RunStatus::kStopped);
  const auto last = static_cast<std::size_t>(run.rounds_done);
  EXPECT_EQ(store->rounds(run.id)->size(), last);
  EXPECT_EQ(store->evaluations(run.id)->size(), last);
  const auto checkpoint = store->checkpoint(run.id);
  ASSERT_TRUE(checkpoint && *checkpoint);
  EXPECT_EQ((*checkpoint)->size(), 200000u);
  EXPECT_TRUE((*checkpoint)->starts_with("state " + std::to_string(last) + "x"));
}

}  // namespace
}  // namespace boba::test
