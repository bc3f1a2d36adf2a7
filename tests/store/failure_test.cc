// Damaged files, folders that may not be written, disks that are full.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "simulator/store/open.h"
#include "simulator/store/schema.h"
#include "simulator/store/sqlite.h"
#include "simulator/store/store.h"
#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

class Failure : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "boba.db"; }
  void fill(int rounds = 50) {
    auto store = Store::open(file(), OpenMode::kCreate);
    ASSERT_TRUE(store);
    const auto run = store->add_run(sample_header());
    ASSERT_EQ(*store->claim(*run, ClaimMode::kNew), ClaimOutcome::kClaimed);
    ASSERT_TRUE(store->write_clients(*run, sample_clients()));
    for (int round = 1; round <= rounds; ++round) {
      ASSERT_TRUE(store->write_round(*run, sample_entry(round, {1, 1, 1})));
    }
    ASSERT_TRUE(store->stop(*run));
  }
  // What a child that is not root says: its last line, or nothing.
  std::string as_nobody(const std::function<std::string()>& body) {
    int gate[2];
    EXPECT_EQ(::pipe(gate), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(1);
      const std::string said = body();
      ::_exit(::write(gate[1], said.data(), said.size()) < 0 ? 1 : 0);
    }
    ::close(gate[1]);
    std::string said(4096, '\0');
    const ssize_t size = ::read(gate[0], said.data(), said.size());
    said.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    ::close(gate[0]);
    ::waitpid(child, nullptr, 0);
    return said;
  }

  TemporaryFolder folder_;
};

// Reads everything; only that it ends without a crash matters.
int read_all(const Store& store) {
  int errors = 0;
  const auto runs = store.runs();
  if (!runs) return 1;
  for (const RunRecord& run : *runs) {
    errors += store.run(run.id) ? 0 : 1;
    errors += store.clients(run.id) ? 0 : 1;
    errors += store.rounds(run.id) ? 0 : 1;
    errors += store.evaluations(run.id) ? 0 : 1;
    errors += store.last_estimate(run.id) ? 0 : 1;
    errors += store.checkpoint(run.id) ? 0 : 1;
  }
  return errors;
}

TEST_F(Failure, DamagedPagesGiveErrorsNotCrashes) {
  fill();
  const std::string good = read_text(file());
  ASSERT_GT(good.size(), 20000u);
  int refused = 0;
  for (std::uint32_t trial = 0; trial < 60; ++trial) {
    write_text(file(), damaged(good, trial, 200));
    std::filesystem::remove(file().string() + "-wal");
    std::filesystem::remove(file().string() + "-shm");
    const auto store = Store::open(file(), OpenMode::kExisting);
    if (!store || read_all(*store) > 0) ++refused;
  }
  EXPECT_GT(refused, 30);
}

TEST_F(Failure, ATruncatedFileIsAnError) {
  fill();
  const std::string good = read_text(file());
  for (const std::size_t size : {std::size_t{50}, std::size_t{100}, good.size() / 2}) {
    write_text(file(), good.substr(0, size));
    const auto store = Store::open(file(), OpenMode::kExisting);
    EXPECT_TRUE(!store || read_all(*store) > 0) << size;
  }
}

TEST_F(Failure, ListsThatAreNoneAreErrorsThatSayWhere) {
  fill(1);
  for (const char* sql :
       {"UPDATE rounds SET rejected = '[1,'", "UPDATE rounds SET rejected = '[1.5]'",
        "UPDATE rounds SET participants = '{}'", "UPDATE rounds SET rejected = '[99999999999]'",
        "UPDATE evaluations SET confusion = '[\"x\"]'", "UPDATE estimates SET shares = '[1]'",
        "UPDATE estimates SET clients = ''", "UPDATE runs SET classes = '[1]'"}) {
    auto database = store::Database::open(file(), store::Access::kReadWrite);
    ASSERT_TRUE(database->script(sql)) << sql;
    const auto store = Store::open(file(), OpenMode::kExisting);
    ASSERT_TRUE(store);
    EXPECT_GT(read_all(*store), 0) << sql;
  }
  const auto store = Store::open(file(), OpenMode::kExisting);
  const auto rounds = store->rounds(1);
  ASSERT_FALSE(rounds);
  EXPECT_NE(rounds.error().message.find("cannot read the rounds of run 1: run 1: damaged: expected"
                                        " a list of integers"),
            std::string::npos)
      << rounds.error().message;
}

TEST_F(Failure, AFolderThatMayNotBeWritten) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  const std::string said = as_nobody([&] {
    const auto store = Store::open(file(), OpenMode::kCreate);
    return store ? "it opened" : store.error().message;
  });
  EXPECT_NE(said.find("cannot open the results: "), std::string::npos) << said;
  EXPECT_NE(said.find("unable to open database file"), std::string::npos) << said;
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
}

TEST_F(Failure, WhatMayNotBeWrittenCanBeRead) {
  fill(3);
  ASSERT_EQ(::chmod(file().c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  const std::string said = as_nobody([&]() -> std::string {
    auto store = Store::open(file(), OpenMode::kExisting);
    if (!store) return store.error().message;
    if (read_all(*store) > 0) return "not read";
    const auto rounds = store->rounds(1);
    const auto added = store->add_run(sample_header("krum"));
    return std::to_string(rounds->size()) + " rounds; " + (added ? "" : added.error().message);
  });
  EXPECT_EQ(said.find("3 rounds; cannot add run sample: "), 0u) << said;
  EXPECT_NE(said.find("readonly database"), std::string::npos) << said;
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
}

// What an older boba made has to be changed before it can be read.
TEST_F(Failure, AnOldFileThatMayNotBeWrittenTellsWhatToDo) {
  {
    auto old = store::Database::open(file(), store::Access::kCreate);
    ASSERT_TRUE(old->script(store::migrations()[0]));
    const std::string marks =
        "PRAGMA user_version = 1; PRAGMA application_id = " + std::to_string(store::kApplicationId);
    ASSERT_TRUE(old->script(marks.c_str()));
  }
  ASSERT_EQ(::chmod(file().c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  const std::string said = as_nobody([&] {
    const auto store = Store::open(file(), OpenMode::kExisting);
    return store ? "it opened" : store.error().message;
  });
  EXPECT_NE(said.find("; an older boba made it, and boba cannot update its tables here; copy it to "
                      "a folder where you may write, and open the copy"),
            std::string::npos)
      << said;
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
}

// A killed process left changes beside the file, and reading would have to merge them.
TEST_F(Failure, ChangesThatCannotBeMergedTellWhatToDo) {
  fill(3);
  for (const char* ending : {"-wal", "-journal"}) {
    write_text(file().string() + ending, std::string(4096, 'x'));
    ASSERT_EQ(::chmod(file().c_str(), 0444), 0);
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
    const std::string said = as_nobody([&] {
      const auto store = Store::open(file(), OpenMode::kExisting);
      return store ? "it opened" : store.error().message;
    });
    const std::string hint = "; cannot write " + file().string() +
                             " here, and its -wal or -journal file has changes that are not "
                             "merged; copy both files to a "
                             "folder where you may write";
    EXPECT_TRUE(said.find(hint) != std::string::npos) << ending << ": " << said;
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
    std::filesystem::remove(file().string() + ending);
  }
}

// Somebody reads a file in SQLite's default mode, which cannot change meanwhile.
class OtherMode : public Failure {
 protected:
  void SetUp() override {
    fill(3);
    reader_.emplace(std::move(*store::Database::open(file(), store::Access::kReadWrite)));
    ASSERT_TRUE(reader_->script("PRAGMA journal_mode = DELETE"));
    ASSERT_TRUE(reader_->script("BEGIN; SELECT count(*) FROM runs"));
  }
  std::optional<store::Database> reader_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
};

TEST_F(OtherMode, IsReadBesideAnotherReaderWithoutWaiting) {
  const auto store = Store::open(file(), OpenMode::kExisting);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(read_all(*store), 0);
  EXPECT_LT(seconds(), 10);
}

TEST_F(OtherMode, IsNotWaitedForForeverToBeWritten) {
  const auto database =
      store::open_database(file(), OpenMode::kCreate, std::chrono::milliseconds(200));
  ASSERT_FALSE(database);
  EXPECT_NE(database.error().message.find("close that program first"), std::string::npos)
      << database.error().message;
  EXPECT_LT(seconds(), 10);
  ASSERT_TRUE(reader_->script("COMMIT"));
  EXPECT_TRUE(store::open_database(file(), OpenMode::kCreate, std::chrono::milliseconds(200)));
}

// A limit on the size of files stands for a full disk: writes fail in the middle of a transaction.
// Exit status: 0 if a write failed and the store went on to serve reads.
int write_until_full(const std::filesystem::path& file) {
  const rlimit limit{1 << 20, 1 << 20};
  ::signal(SIGXFSZ, SIG_IGN);
  auto store = Store::open(file, OpenMode::kExisting);
  if (!store || *store->claim(1, ClaimMode::kResume) != ClaimOutcome::kClaimed) return 1;
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
  for (int round = 4; round < 1000; ++round) {
    RoundEntry entry = sample_entry(round, {1, 1, 1});
    entry.checkpoint.resize(100000, 'x');
    const auto written = store->write_round(1, entry);
    if (written) continue;
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    if (written.error().code != ErrorCode::kIo) return 3;
    const auto rounds = store->rounds(1);
    return rounds && rounds->size() == static_cast<std::size_t>(round - 1) ? 0 : 4;
  }
  return 5;
}

TEST_F(Failure, AFullDiskIsAnErrorAndLosesOneRound) {
  fill(3);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(write_until_full(file()));
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  auto store = Store::open(file(), OpenMode::kExisting);
  ASSERT_TRUE(store) << store.error().message;
  const auto run = store->run(1);
  EXPECT_GE(run->rounds_done, 4);
  EXPECT_EQ(store->rounds(1)->size(), static_cast<std::size_t>(run->rounds_done));
  ASSERT_EQ(*store->claim(1, ClaimMode::kResume), ClaimOutcome::kClaimed);
  EXPECT_TRUE(store->write_round(1, sample_entry(run->rounds_done + 1)));
}

}  // namespace
}  // namespace boba::test
