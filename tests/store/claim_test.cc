// Who may run a run: one process at a time, and death is noticed.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "simulator/store/claim.h"
#include "simulator/store/sqlite.h"
#include "simulator/store/store.h"
#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

constexpr ClaimMode kModes[] = {ClaimMode::kNew, ClaimMode::kResume, ClaimMode::kRestart};

class Claim : public ::testing::Test {
 protected:
  Claim() : store_(open()) { run_ = *store_.add_run(sample_header()); }
  Store open() {
    auto store = Store::open(folder_.path() / "boba.db", OpenMode::kCreate);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  ClaimOutcome claim(ClaimMode mode) {
    const auto outcome = store_.claim(run_, mode);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return *outcome;
  }
  void sql(const std::string& text) {
    auto database = store::Database::open(folder_.path() / "boba.db", store::Access::kReadWrite);
    const auto done = database->script(text.c_str());
    ASSERT_TRUE(done) << done.error().message;
  }
  // A process that claims the run, writes rounds, and then does as last says. The child opens its
  // own store; it tells by its exit status whether the claim worked.
  pid_t fork_claimer(int rounds, const std::function<void(int)>& last, int ready = -1) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    auto store = Store::open(folder_.path() / "boba.db", OpenMode::kCreate);
    if (!store) ::_exit(10);
    const auto outcome = store->claim(run_, ClaimMode::kResume);
    if (!outcome || *outcome != ClaimOutcome::kClaimed) ::_exit(11);
    for (int round = 1; round <= rounds; ++round) {
      if (!store->write_round(run_, sample_entry(round))) ::_exit(12);
    }
    last(ready);
    ::_exit(0);
  }

  TemporaryFolder folder_;
  Store store_;
  std::int64_t run_ = 0;
};

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(Claim, ARunThatNeverStartedIsFreeInEveryMode) {
  for (ClaimMode mode : kModes) {
    EXPECT_EQ(claim(mode), ClaimOutcome::kClaimed);
    EXPECT_EQ(store_.run(run_)->status, RunStatus::kRunning);
    sql("UPDATE runs SET status = 'waiting', owner = NULL");
  }
}

TEST_F(Claim, ALiveProcessKeepsItsRun) {
  ASSERT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kClaimed);
  Store other = open();
  for (ClaimMode mode : kModes) {
    EXPECT_EQ(claim(mode), ClaimOutcome::kBusy);
    EXPECT_EQ(*other.claim(run_, mode), ClaimOutcome::kBusy);
  }
}

TEST_F(Claim, AFinishedRunStartsOnlyAnew) {
  ASSERT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kClaimed);
  ASSERT_TRUE(store_.write_clients(run_, sample_clients()));
  ASSERT_TRUE(store_.write_round(run_, sample_entry(1, {1, 1, 1})));
  ASSERT_TRUE(store_.finish(run_, "model"));
  EXPECT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kFinished);
  EXPECT_EQ(claim(ClaimMode::kResume), ClaimOutcome::kFinished);
  EXPECT_EQ(store_.rounds(run_)->size(), 1u);
  EXPECT_EQ(claim(ClaimMode::kRestart), ClaimOutcome::kClaimed);
  const auto record = store_.run(run_);
  EXPECT_EQ(record->status, RunStatus::kRunning);
  EXPECT_EQ(record->rounds_done, 0);
  EXPECT_EQ(record->seconds, 0);
  EXPECT_EQ(record->accuracy, std::nullopt);
  EXPECT_EQ(record->finished, "");
  EXPECT_EQ(record->model_file, "");
  EXPECT_TRUE(store_.rounds(run_)->empty());
  EXPECT_TRUE(store_.clients(run_)->empty());
  EXPECT_TRUE(store_.evaluations(run_)->empty());
  EXPECT_EQ(*store_.last_estimate(run_), std::nullopt);
}

TEST_F(Claim, AStoppedOrFailedRunIsUnfinished) {
  for (const bool failed : {false, true}) {
    ASSERT_EQ(claim(ClaimMode::kResume), ClaimOutcome::kClaimed);
    ASSERT_TRUE(store_.write_round(run_, sample_entry(failed ? 2 : 1)));
    ASSERT_TRUE(failed ? store_.fail(run_, "why") : store_.stop(run_));
    EXPECT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kUnfinished);
  }
  ASSERT_EQ(claim(ClaimMode::kResume), ClaimOutcome::kClaimed);
  EXPECT_EQ(*store_.checkpoint(run_), "state 2");
  EXPECT_EQ(store_.run(run_)->rounds_done, 2);
  ASSERT_TRUE(store_.stop(run_));
  ASSERT_EQ(claim(ClaimMode::kRestart), ClaimOutcome::kClaimed);
  EXPECT_EQ(*store_.checkpoint(run_), std::nullopt);
  EXPECT_TRUE(store_.rounds(run_)->empty());
}

TEST_F(Claim, ResumingForgetsWhatCameAfterTheCheckpoint) {
  ASSERT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kClaimed);
  ASSERT_TRUE(store_.write_clients(run_, sample_clients()));
  for (int round = 1; round <= 4; ++round) {
    RoundEntry entry = sample_entry(round, {1, 1, 1});
    if (round > 2) entry.checkpoint.clear();
    ASSERT_TRUE(store_.write_round(run_, entry));
  }
  ASSERT_TRUE(store_.stop(run_));
  ASSERT_EQ(claim(ClaimMode::kResume), ClaimOutcome::kClaimed);
  EXPECT_EQ(store_.rounds(run_)->size(), 2u);
  EXPECT_EQ(store_.evaluations(run_)->size(), 2u);
  EXPECT_EQ(store_.run(run_)->rounds_done, 2);
  EXPECT_EQ(store_.run(run_)->seconds, 2 * 1.875);
  EXPECT_EQ(store_.clients(run_)->size(), 5u);
}

TEST_F(Claim, AProcessThatExitedOrWasKilledIsNoticed) {
  for (const int signal : {0, SIGKILL}) {
    const pid_t child = fork_claimer(2, [&](int) {
      if (signal != 0) ::kill(::getpid(), signal);
    });
    ASSERT_EQ(wait_for(child), signal == 0 ? 0 : 128 + signal);
    EXPECT_EQ(store_.run(run_)->status, RunStatus::kStopped);
    EXPECT_EQ(store_.runs("status=stopped")->size(), 1u);
    EXPECT_EQ(store_.runs("status=running")->size(), 0u);
    EXPECT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kUnfinished);
    EXPECT_EQ(store_.rounds(run_)->size(), 2u);
    EXPECT_EQ(*store_.checkpoint(run_), "state 2");
  }
  EXPECT_EQ(claim(ClaimMode::kResume), ClaimOutcome::kClaimed);
}

TEST_F(Claim, ALiveChildIsBusyAndAZombieIsNot) {
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const pid_t child = fork_claimer(
      1,
      [](int ready) {
        const char letter = 'r';
        if (::write(ready, &letter, 1) != 1) ::_exit(13);
        for (;;) ::pause();
      },
      gate[1]);
  char letter = 0;
  ASSERT_EQ(::read(gate[0], &letter, 1), 1);
  for (ClaimMode mode : kModes) EXPECT_EQ(claim(mode), ClaimOutcome::kBusy);
  EXPECT_EQ(store_.run(run_)->status, RunStatus::kRunning);
  ::kill(child, SIGKILL);
  // It has ended, but nobody has waited for it: it keeps its number.
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kUnfinished);
  EXPECT_EQ(wait_for(child), 128 + SIGKILL);
  EXPECT_EQ(claim(ClaimMode::kResume), ClaimOutcome::kClaimed);
  ::close(gate[0]);
  ::close(gate[1]);
}

TEST_F(Claim, AnotherProcessWithTheSameNumberIsNotTheOwner) {
  ASSERT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kClaimed);
  sql("UPDATE runs SET owner = json_set(owner, '$.start', '12345')");
  EXPECT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kUnfinished);
  // A process that lost its run does not write to it any more.
  EXPECT_FALSE(store_.write_round(run_, sample_entry(1)));
}

TEST_F(Claim, AnotherHostIsGivenTenMinutes) {
  ASSERT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kClaimed);
  sql("UPDATE runs SET owner = json_set(owner, '$.host', 'elsewhere', '$.pid', 1)");
  EXPECT_EQ(claim(ClaimMode::kRestart), ClaimOutcome::kBusy);
  sql("UPDATE runs SET written = strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-9 minutes')");
  EXPECT_EQ(claim(ClaimMode::kResume), ClaimOutcome::kBusy);
  EXPECT_EQ(store_.run(run_)->status, RunStatus::kRunning);
  sql("UPDATE runs SET written = strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-11 minutes')");
  EXPECT_EQ(store_.run(run_)->status, RunStatus::kStopped);
  EXPECT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kUnfinished);
  EXPECT_EQ(claim(ClaimMode::kResume), ClaimOutcome::kClaimed);
}

// A container has numbers of its own: ours say nothing about its processes.
TEST_F(Claim, AnotherContainerIsLikeAnotherHost) {
  ASSERT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kClaimed);
  sql("UPDATE runs SET owner = json_set(owner, '$.space', 'pid:[1]', '$.pid', 99999999)");
  EXPECT_EQ(claim(ClaimMode::kRestart), ClaimOutcome::kBusy);
  sql("UPDATE runs SET written = strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-11 minutes')");
  EXPECT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kUnfinished);
}

// This process is alive, but it cannot have been before the machine started.
TEST_F(Claim, NoProcessOutlivesAStartOfTheMachine) {
  ASSERT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kClaimed);
  sql("UPDATE runs SET owner = json_set(owner, '$.boot', 'another')");
  EXPECT_EQ(store_.run(run_)->status, RunStatus::kStopped);
  EXPECT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kUnfinished);
}

TEST_F(Claim, ABusyRunTellsWhoHasIt) {
  EXPECT_EQ(store_.run(run_)->owner, "");
  ASSERT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kClaimed);
  sql("UPDATE runs SET owner = json_set(owner, '$.host', 'host7', '$.pid', 4242)");
  ASSERT_EQ(claim(ClaimMode::kResume), ClaimOutcome::kBusy);
  const std::string owner = store_.run(run_)->owner;
  EXPECT_EQ(owner.find("host7, process 4242, last wrote 20"), 0u) << owner;
  sql("UPDATE runs SET written = '2020-01-01T00:00:00Z'");
  EXPECT_EQ(store_.run(run_)->owner, "") << "it is given up";
  EXPECT_EQ(store::owner_text("garbage", ""), "");
}

TEST_F(Claim, AnOwnerThatIsNoneHoldsNothing) {
  for (const char* owner :
       {"NULL", "''", "'garbage'", "'[]'", "'{\"host\":1,\"pid\":2,\"start\":3}'",
        "json_set('{}', '$.host', 'x', '$.pid', 'y', '$.start', 'z')", "x'ff00'"}) {
    sql(std::string("UPDATE runs SET status = 'running', owner = ") + owner);
    EXPECT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kUnfinished) << owner;
    EXPECT_EQ(store_.run(run_)->status, RunStatus::kStopped) << owner;
  }
}

TEST(Owner, NumbersThatMeanGroupsOfProcessesAreNone) {
  const std::string self = store::this_process();
  ASSERT_TRUE(store::is_alive(self, 1e9));
  const std::string pid = "\"pid\":" + std::to_string(::getpid());
  ASSERT_NE(self.find(pid), std::string::npos) << self;
  for (const char* other : {"\"pid\":0", "\"pid\":-1", "\"pid\":99999999999999"}) {
    std::string owner = self;
    owner.replace(owner.find(pid), pid.size(), other);
    EXPECT_FALSE(store::is_alive(owner, 0)) << owner;
  }
}

TEST_F(Claim, OfManyStoresExactlyOneGetsIt) {
  constexpr int kThreads = 8;
  for (int repeat = 0; repeat < 10; ++repeat) {
    RunHeader header = sample_header();
    header.data = "repeat " + std::to_string(repeat);
    const auto run = store_.add_run(header);
    ASSERT_TRUE(run);
    std::vector<Store> stores;
    for (int i = 0; i < kThreads; ++i) stores.push_back(open());
    std::atomic<int> claimed = 0;
    std::atomic<int> busy = 0;
    std::vector<std::thread> threads;
    for (Store& store : stores) {
      threads.emplace_back([&] {
        const auto outcome = store.claim(*run, ClaimMode::kResume);
        if (outcome && *outcome == ClaimOutcome::kClaimed) ++claimed;
        if (outcome && *outcome == ClaimOutcome::kBusy) ++busy;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(claimed, 1);
    EXPECT_EQ(busy, kThreads - 1);
  }
}

TEST_F(Claim, NotesTheVersionThatRunsIt) {
  ASSERT_EQ(claim(ClaimMode::kNew), ClaimOutcome::kClaimed);
  ASSERT_TRUE(store_.finish(run_, ""));
  RunHeader header = sample_header();
  header.version = "9.9";
  EXPECT_EQ(*store_.add_run(header), run_);
  EXPECT_EQ(store_.run(run_)->header.version, "0.1.0");
  ASSERT_EQ(claim(ClaimMode::kRestart), ClaimOutcome::kClaimed);
  EXPECT_EQ(store_.run(run_)->header.version, "9.9");
}

}  // namespace
}  // namespace boba::test
