// Old files become new ones, foreign ones are left alone, and the views say what the page says.

#include "simulator/store/schema.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "simulator/store/store.h"
#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

using store::Access;
using store::Database;

class Schema : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "boba.db"; }
  Database raw(Access access = Access::kReadWrite) {
    auto database = Database::open(file(), access);
    EXPECT_TRUE(database) << database.error().message;
    return std::move(*database);
  }
  void script(Database& database, const std::string& sql) {
    const auto done = database.script(sql.c_str());
    ASSERT_TRUE(done) << done.error().message << "\n" << sql;
  }
  std::string refusal(OpenMode mode = OpenMode::kCreate) {
    const auto store = Store::open(file(), mode);
    return store ? "" : store.error().message;
  }
  // All rows of a query, columns joined by |.
  std::vector<std::string> rows(const std::string& sql, int columns) {
    Database database = raw(Access::kReadOnly);
    std::vector<std::string> lines;
    const auto done = database.each(sql, {}, [&](store::Row& row) {
      std::string line;
      for (int i = 0; i < columns; ++i) {
        if (i > 0) line += '|';
        line += row.text();
      }
      lines.push_back(line);
      return Result<void>();
    });
    EXPECT_TRUE(done) << done.error().message;
    return lines;
  }

  TemporaryFolder folder_;
};

// A file as the first version of the schema left it.
TEST_F(Schema, AnOldFileIsBroughtUpToDate) {
  {
    Database old = raw(Access::kCreate);
    script(old, store::migrations()[0]);
    script(old, "PRAGMA application_id = " + std::to_string(store::kApplicationId));
    script(old, "PRAGMA user_version = 1");
    script(old, R"(
      INSERT INTO runs (run, name, config, data, baseline, dataset, partition, model, algorithm,
        rule, attack, honest, byzantine, seed, rounds, parameters, classes, version, created, status)
      VALUES (5, 'old', 'c', 'd', 'c', 'mnist', 'pairs', 'mlp', 'fedsgd', 'average', 'none', 2, 0,
        3, 1, 10, '["a","b"]', '0.0.9', '2024-01-01T00:00:00Z', 'finished');
      INSERT INTO rounds (run, round, learning_rate, rejected, false_accepts, false_rejects)
      VALUES (5, 1, 0.5, '[1]', 0, 1);
      INSERT INTO evaluations VALUES (5, 1, 0.1, 0.75, '[3,1,0,4]');
      INSERT INTO recalls VALUES (5, 1, 0, 0.75), (5, 1, 1, 1.0);)");
    EXPECT_FALSE(old.prepare("SELECT update_norm FROM rounds"));
  }
  auto store = Store::open(file(), OpenMode::kExisting);
  ASSERT_TRUE(store) << store.error().message;
  const auto run = store->run(5);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->header.name, "old");
  EXPECT_EQ(run->accuracy, 0.75);
  EXPECT_EQ(run->mrd, 0);
  const auto rounds = store->rounds(5);
  ASSERT_EQ(rounds->size(), 1u);
  EXPECT_EQ((*rounds)[0].learning_rate, 0.5);
  EXPECT_TRUE(std::isnan((*rounds)[0].update_norm));
  EXPECT_EQ((*rounds)[0].fits, std::nullopt);
  EXPECT_EQ(rows("PRAGMA user_version", 1), (std::vector<std::string>{"4"}));
  // It takes new rounds as a new file does.
  ASSERT_EQ(*store->claim(5, ClaimMode::kRestart), ClaimOutcome::kClaimed);
  ASSERT_TRUE(store->write_round(5, sample_entry(1, {1, 1})));
  EXPECT_EQ((*store->rounds(5))[0].update_norm, 1.0 / 3);
}

// Up to version 3 a GPU stood in the text of the version only.
TEST_F(Schema, TheGpuOfOldRunsIsMovedToItsColumn) {
  const std::vector<std::string> versions = {"0.1.0", "0.1.0, cuda, NVIDIA H200", "0.1.0, "};
  {
    Database old = raw(Access::kCreate);
    for (std::size_t i = 0; i < 3; ++i) script(old, store::migrations()[i]);
    script(old, "PRAGMA application_id = " + std::to_string(store::kApplicationId));
    script(old, "PRAGMA user_version = 3");
    for (std::size_t i = 0; i < versions.size(); ++i) {
      script(old,
             "INSERT INTO runs (name, config, data, baseline, dataset, partition, model,"
             " algorithm, rule, attack, honest, byzantine, seed, rounds, parameters, classes,"
             " version, created) VALUES ('old', 'c" +
                 std::to_string(i) +
                 "', 'd', 'c', 'mnist', 'pairs', 'mlp', 'fedsgd', 'average', 'none', 2, 0, 3,"
                 " 1, 10, '[]', '" +
                 versions[i] + "', '2024-01-01T00:00:00Z')");
    }
  }
  const auto store = Store::open(file(), OpenMode::kExisting);
  ASSERT_TRUE(store) << store.error().message;
  const auto runs = store->runs();
  ASSERT_EQ(runs->size(), 3u);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    EXPECT_EQ((*runs)[i].header.version, versions[i]) << "stays as it was";
  }
  EXPECT_EQ((*runs)[0].header.gpu, "");
  EXPECT_EQ((*runs)[1].header.gpu, "cuda, NVIDIA H200");
  EXPECT_EQ((*runs)[2].header.gpu, "");
  EXPECT_EQ(rows("SELECT run FROM runs WHERE gpu IS NULL", 1),
            (std::vector<std::string>{"1", "3"}));
}

TEST_F(Schema, AMigrationThatFailsLeavesTheFileAsItWas) {
  {
    Database old = raw(Access::kCreate);
    script(old, store::migrations()[0]);
    script(old, "PRAGMA application_id = " + std::to_string(store::kApplicationId));
    // In the way of a view, after the first steps of the script.
    script(old, "PRAGMA user_version = 1; CREATE TABLE decisions (x)");
  }
  EXPECT_NE(refusal().find("it has the table 'decisions'"), std::string::npos) << refusal();
  {
    Database old = raw();
    const auto done = store::migrate(old);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("decisions already exists"), std::string::npos)
        << done.error().message;
  }
  EXPECT_EQ(rows("PRAGMA user_version", 1), (std::vector<std::string>{"1"}));
  EXPECT_FALSE(raw().prepare("SELECT update_norm FROM rounds"));
}

TEST_F(Schema, ANewerFileIsRefused) {
  ASSERT_EQ(refusal(), "");
  {
    Database database = raw();
    script(database, "PRAGMA user_version = 5");
  }
  EXPECT_NE(refusal().find("its schema has version 5, this boba knows up to 4"), std::string::npos)
      << refusal();
}

TEST_F(Schema, DatabasesOfOthersAreRefusedAndLeftAlone) {
  {
    Database other = raw(Access::kCreate);
    script(other, "CREATE TABLE notes (text)");
  }
  const std::string before = read_text(file());
  EXPECT_NE(refusal().find("not one of boba's results"), std::string::npos) << refusal();
  EXPECT_NE(refusal(OpenMode::kExisting).find("not one of boba's results"), std::string::npos);
  EXPECT_EQ(read_text(file()), before);
  {
    Database other = raw();
    script(other, "PRAGMA application_id = 7; DROP TABLE notes");
  }
  EXPECT_NE(refusal().find("not one of boba's results"), std::string::npos);
}

TEST_F(Schema, FilesThatAreNoDatabaseAreRefusedAndLeftAlone) {
  const std::string text(5000, 'x');
  write_text(file(), text);
  EXPECT_NE(refusal().find("file is not a database"), std::string::npos) << refusal();
  EXPECT_EQ(read_text(file()), text);
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"boba.db"}));
}

TEST_F(Schema, AnEmptyFileWillDo) {
  write_text(file(), "");
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(rows("PRAGMA user_version", 1), (std::vector<std::string>{"4"}));
}

TEST_F(Schema, WhatIsNotThereOrIsAFolder) {
  EXPECT_NE(refusal(OpenMode::kExisting).find("there is no such results database"),
            std::string::npos);
  EXPECT_TRUE(folder_.names().empty());
  const auto nowhere = Store::open(folder_.path() / "no" / "boba.db", OpenMode::kCreate);
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("does not exist; make it first"), std::string::npos);
  const auto folder = Store::open(folder_.path(), OpenMode::kCreate);
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("is a folder"), std::string::npos);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const OpenMode mode : {OpenMode::kCreate, OpenMode::kExisting}) {
    const auto pipe = Store::open(folder_.path() / "pipe", mode);
    ASSERT_FALSE(pipe);
    EXPECT_NE(pipe.error().message.find("pipe: is not a regular file"), std::string::npos);
  }
}

TEST_F(Schema, OddNamesAreNames) {
  for (const char* name : {"a b.db", "50%?x=1#y.db", ":memory:", "file:x.db", "na\xc3\xafve.db"}) {
    const auto store = Store::open(folder_.path() / name, OpenMode::kCreate);
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_TRUE(std::filesystem::is_regular_file(folder_.path() / name)) << name;
  }
}

TEST_F(Schema, ViewsUnfoldLists) {
  auto store = Store::open(file(), OpenMode::kCreate);
  ASSERT_TRUE(store);
  const auto run = store->add_run(sample_header());
  ASSERT_EQ(*store->claim(*run, ClaimMode::kNew), ClaimOutcome::kClaimed);
  ASSERT_TRUE(store->write_clients(*run, sample_clients()));
  ASSERT_TRUE(store->write_round(*run, sample_entry(1)));
  RoundEntry entry = sample_entry(2, {1, 1, 1});
  entry.round.participants = {0, 2, 4};
  ASSERT_TRUE(store->write_round(*run, entry));
  EXPECT_EQ(rows("SELECT class, name FROM classes ORDER BY class", 2),
            (std::vector<std::string>{"0|cat", "1|dog", "2|owl"}));
  EXPECT_EQ(rows("SELECT round, client FROM rejections ORDER BY round, client", 2),
            (std::vector<std::string>{"1|4", "2|0", "2|4"}));
  EXPECT_EQ(rows("SELECT round, client, honest, accepted FROM decisions ORDER BY round, client", 4),
            (std::vector<std::string>{"1|0|1|1", "1|1|1|1", "1|2|1|1", "1|3|1|1", "1|4|0|0",
                                      "2|0|1|0", "2|2|1|1", "2|4|0|0"}));
  EXPECT_EQ(
      rows("SELECT round, client, class, share FROM label_estimates ORDER BY client, class", 4),
      (std::vector<std::string>{"2|0|0|0.5", "2|0|1|0.0", "2|0|2|0.5", "2|3|0|0.25", "2|3|1|0.5",
                                "2|3|2|0.25"}));
  EXPECT_EQ(rows("SELECT run, status, rounds_done FROM results", 3),
            (std::vector<std::string>{"1|running|2"}));
}

std::string page() { return read_text(test::source_dir() + "/docs/results-database.md"); }

TEST_F(Schema, ThePageNamesEveryTableViewAndColumn) {
  ASSERT_EQ(refusal(), "");
  const std::string text = page();
  std::string section;
  for (const std::string& line :
       rows("SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c"
            " WHERE m.type IN ('table', 'view')",
            2)) {
    const std::string table = line.substr(0, line.find('|'));
    const std::string column = line.substr(line.find('|') + 1);
    const std::size_t begin = text.find("## " + table + "\n");
    ASSERT_NE(begin, std::string::npos) << "no section about " << table;
    section = text.substr(begin, text.find("\n#", begin + 3) - begin);
    EXPECT_NE(section.find("| " + column + " |"), std::string::npos) << line;
  }
}

TEST_F(Schema, ThePagesQueriesRun) {
  ASSERT_EQ(refusal(), "");
  const std::string text = page();
  int queries = 0;
  for (std::size_t at = text.find("```sql\n"); at != std::string::npos;
       at = text.find("```sql\n", at + 1)) {
    const std::size_t begin = at + 7;
    const std::string sql = text.substr(begin, text.find("```", begin) - begin);
    Database database = raw(Access::kReadOnly);
    const auto done = database.script(sql.c_str());
    EXPECT_TRUE(done) << done.error().message << "\n" << sql;
    ++queries;
  }
  EXPECT_GE(queries, 4);
}

}  // namespace
}  // namespace boba::test
