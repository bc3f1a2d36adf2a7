// Databases that somebody made to hang, crash or deceive boba.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/store/open.h"
#include "simulator/store/schema.h"
#include "simulator/store/sqlite.h"
#include "simulator/store/store.h"
#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

using store::Access;
using store::Database;

class HostileDatabase : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "hostile.db"; }

  // A sound database of one finished run; no page of it waits in a file beside.
  void fill(int page_size = 4096) {
    script(fmt_page_size(page_size), Access::kCreate);
    auto store = Store::open(file(), OpenMode::kCreate);
    ASSERT_TRUE(store) << store.error().message;
    add_finished_run(*store, sample_header(), {1, 1, 1});
  }
  void script(const std::string& sql, Access access = Access::kReadWrite) {
    auto database = Database::open(file(), access);
    ASSERT_TRUE(database) << database.error().message;
    const auto done = database->script(sql.c_str());
    ASSERT_TRUE(done) << done.error().message << "\n" << sql;
  }
  std::string refusal(OpenMode mode = OpenMode::kExisting) {
    const auto store = Store::open(file(), mode);
    return store ? "" : store.error().message;
  }
  std::string import_refusal() {
    auto mine = Store::open(folder_.path() / "mine.db", OpenMode::kCreate);
    const auto report = mine->import_from(file(), ImportMode::kRefuse);
    EXPECT_TRUE(mine->runs()->empty());
    return report ? "" : report.error().message;
  }
  std::int64_t root_of(const std::string& name) {
    auto database = Database::open(file(), Access::kReadOnly);
    return *database->integer("SELECT rootpage FROM sqlite_schema WHERE name = ?", {name});
  }

  static std::string fmt_page_size(int bytes) {
    return "PRAGMA page_size = " + std::to_string(bytes) + "; VACUUM";
  }

  TemporaryFolder folder_;
};

constexpr const char* kEndless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

TEST_F(HostileDatabase, WhatIsNotOursIsRefusedBeforeItIsRead) {
  const std::string endless = kEndless;
  const std::pair<std::string, std::string> cases[] = {
      {"ALTER TABLE runs RENAME TO held; CREATE VIEW runs AS " + endless,
       "it has the table 'held', which boba did not make"},
      {"DROP TABLE runs; CREATE VIEW runs AS " + endless, "its view 'runs' is not the table"},
      {"DROP TABLE rounds; CREATE VIEW rounds AS " + endless, "its view 'rounds' is not the table"},
      {"DROP VIEW results; CREATE VIEW results AS " + endless,
       "its view 'results' is not the view"},
      {"CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
       "it has the trigger 't', which boba did not make"},
      {"CREATE TABLE more (x, y AS (x + 1))", "it has the table 'more', which boba did not make"},
      {"ALTER TABLE runs ADD COLUMN more AS (length(config))",
       "its table 'runs' is not the table that boba makes"},
      {"CREATE VIRTUAL TABLE words USING fts5(word)", "it has the table 'words"},
      {"CREATE INDEX i ON runs (abs(seed))", "it has the index 'i', which boba did not make"},
      {"DROP TABLE points", "the table 'points' is missing"},
      {"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'failed', 'lost')"
       " WHERE name = 'runs'",
       "its table 'runs' is not the table that boba makes"},
  };
  for (const auto& [sql, wanted] : cases) {
    std::filesystem::remove(file());
    fill();
    script(sql);
    const std::string before = read_text(file());
    for (const OpenMode mode : {OpenMode::kExisting, OpenMode::kCreate}) {
      const std::string said = refusal(mode);
      EXPECT_NE(said.find(wanted), std::string::npos) << sql << "\n" << said;
      EXPECT_NE(said.find("a results database has exactly the tables, views and indexes"),
                std::string::npos)
          << said;
    }
    EXPECT_NE(import_refusal().find(wanted), std::string::npos) << import_refusal();
    EXPECT_EQ(read_text(file()), before) << sql;
  }
}

TEST_F(HostileDatabase, EveryVersionOfOursIsKnown) {
  for (std::size_t version = 1; version <= store::migrations().size(); ++version) {
    std::filesystem::remove(file());
    std::string sql;
    for (std::size_t i = 0; i < version; ++i) sql += store::migrations()[i];
    sql += "PRAGMA application_id = " + std::to_string(store::kApplicationId) +
           "; PRAGMA user_version = " + std::to_string(version);
    script(sql, Access::kCreate);
    EXPECT_EQ(refusal(), "") << version;
    // VACUUM and a table that another program wrote with other spaces are no changes.
    script(
        "VACUUM; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '  ',"
        " char(10, 9, 32))");
    EXPECT_EQ(refusal(), "") << version;
  }
}

TEST_F(HostileDatabase, AConnectionUsesNoViewsOrTriggersOfTheFile) {
  fill();
  auto database = store::open_database(file(), OpenMode::kExisting);
  ASSERT_TRUE(database) << database.error().message;
  // As if somebody had changed the file after it was checked.
  script("DROP VIEW results; CREATE VIEW results AS " + std::string(kEndless) +
         "; CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM rounds; END");
  EXPECT_EQ(*database->integer("SELECT count(*) FROM results WHERE rule = 'boba(f=2)'"), 1)
      << "boba's own view";
  EXPECT_FALSE(database->prepare("SELECT * FROM main.results"));
  ASSERT_TRUE(database->run("UPDATE runs SET seconds = 2"));
  EXPECT_EQ(*database->integer("SELECT count(*) FROM rounds"), 1);
  EXPECT_FALSE(database->run("UPDATE sqlite_schema SET sql = ''"));
}

TEST_F(HostileDatabase, NamesInTheFileCannotTouchTheTerminal) {
  fill();
  script("CREATE TABLE \"a\x1b[2J\n\xe2\x80\xae\" (x)");
  const std::string said = refusal();
  EXPECT_NE(said.find("the table 'a\\x1b[2J\\n\\u202e'"), std::string::npos) << said;
  script(
      "DROP TABLE \"a\x1b[2J\n\xe2\x80\xae\"; PRAGMA writable_schema = ON;"
      "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 2, 'CREATE \x1b[2J')");
  EXPECT_EQ(refusal().find('\x1b'), std::string::npos) << refusal();
}

void put(std::string& bytes, std::size_t at, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) {
    bytes[at + static_cast<std::size_t>(i)] =
        static_cast<char>(value >> (8 * (size - 1 - i)) & 0xFF);
  }
}

// An inner page of a table, with so many entries that all lead to the same page below.
std::string inner_page(std::size_t page_size, std::size_t entries, std::uint64_t below) {
  std::string page(page_size, '\0');
  page[0] = 5;
  put(page, 3, entries, 2);
  put(page, 5, page_size - 5 * entries, 2);
  put(page, 8, below, 4);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t cell = page_size - 5 * (i + 1);
    put(page, 12 + 2 * i, cell, 2);
    put(page, cell, below, 4);
    page[cell + 4] = 127;  // the largest row number there
  }
  return page;
}

// Puts so many inner pages between the root of a table and its rows.
std::string deepened(std::string bytes, std::int64_t root, std::size_t page_size,
                     std::size_t levels, std::size_t entries) {
  const std::size_t place = static_cast<std::size_t>(root - 1) * page_size;
  const std::string rows = bytes.substr(place, page_size);
  std::size_t last = bytes.size() / page_size;
  bytes.replace(place, page_size, inner_page(page_size, entries, last + 1));
  for (std::size_t i = 1; i < levels; ++i) {
    bytes += inner_page(page_size, entries, ++last + 1);
  }
  bytes += rows;
  put(bytes, 28, last + 1, 4);
  return bytes;
}

// 300^6 rows in 100 kB.
TEST_F(HostileDatabase, ATableWithoutEndIsLeft) {
  fill();
  write_text(file(), deepened(read_text(file()), root_of("runs"), 4096, 6, 300));
  ASSERT_EQ(refusal(), "") << "its schema is ours";
  for (const OpenMode mode : {OpenMode::kExisting, OpenMode::kCreate}) {
    const auto store = Store::open(file(), mode);
    const auto runs = store->runs();
    ASSERT_FALSE(runs);
    EXPECT_NE(runs.error().message.find("it gives more than "), std::string::npos)
        << runs.error().message;
    const auto none = store->runs("rule=nobody");
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find("made to keep its reader busy"), std::string::npos)
        << none.error().message;
  }
  const std::string said = import_refusal();
  EXPECT_NE(said.find("reading it takes more than "), std::string::npos) << said;
}

// SQLite's own check would follow them on the stack until it ends.
TEST_F(HostileDatabase, ATreeDeeperThanTheStackIsDamaged) {
  fill(512);
  write_text(file(), deepened(read_text(file()), root_of("measurements"), 512, 60000, 1));
  const std::string said = import_refusal();
  EXPECT_NE(said.find("malformed"), std::string::npos) << said;
}

}  // namespace
}  // namespace boba::test
