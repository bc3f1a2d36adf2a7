// boba results against a database that the test filled.

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "simulator/store/sqlite.h"
#include "simulator/store/store.h"
#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

class ResultsCommand : public ::testing::Test {
 protected:
  ResultsCommand() : store_(std::move(*Store::open(folder_ / "boba.db", OpenMode::kCreate))) {}

  Finished run(std::vector<std::string> more = {}) {
    more.insert(more.begin(), "results");
    return run_boba(more, {.folder = folder_.path()});
  }
  // Two seeds of a baseline and of boba, and a run that has not started.
  void fill() {
    add_finished_run(store_, sample_header("average", "none", 1), {1, 1, 0.7});
    add_finished_run(store_, sample_header("average", "none", 2), {0.8, 0.8, 0.8});
    add_finished_run(store_, sample_header("boba(f=2,p_min=-0.1)", "ipm", 1), {0.9, 0.9, 0.9});
    add_finished_run(store_, sample_header("boba(f=2,p_min=-0.1)", "ipm", 2), {0.7, 0.7, 0.7});
    ASSERT_TRUE(store_.add_run(sample_header("krum(f=2)", "lie", 1)));
  }

  TemporaryFolder folder_;
  Store store_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Reads RFC 4180 by its own rules.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      rows.back().emplace_back();
    } else if (!quoted && text[i] == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

TEST_F(ResultsCommand, PrintsATable) {
  fill();
  const Finished finished = run();
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_EQ(lines.size(), 6u) << finished.out;
  EXPECT_EQ(lines[0],
            "run  status    dataset    model          algorithm  rule                  attack  byz"
            "  seed  rounds  accuracy    mrd  seconds");
  EXPECT_EQ(lines[3],
            "  3  finished  synthetic  mlp(width=20)  fedsgd     boba(f=2,p_min=-0.1)  ipm       1"
            "     1   20/20     90.00  10.00      1.9");
  EXPECT_EQ(lines[5],
            "  5  waiting   synthetic  mlp(width=20)  fedsgd     krum(f=2)             lie       1"
            "     1    0/20         -      -      0.0");
}

TEST_F(ResultsCommand, PrintsCsv) {
  fill();
  RunHeader hostile = sample_header("x\"y,z\nnew", "none", 7);
  hostile.name = " leading, \"quoted\"\r\n";
  ASSERT_TRUE(store_.add_run(hostile));
  const Finished finished = run({"--csv"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto rows = parse_csv(finished.out);
  ASSERT_EQ(rows.size(), 7u);
  const std::vector<std::string> begin = {"run",      "status", "dataset",   "model", "algorithm",
                                          "rule",     "attack", "byzantine", "seed",  "rounds",
                                          "accuracy", "mrd",    "seconds"};
  ASSERT_GE(rows[0].size(), begin.size());
  EXPECT_EQ(std::vector<std::string>(rows[0].begin(), rows[0].begin() + 13), begin);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[3][5], "boba(f=2,p_min=-0.1)");
  EXPECT_EQ(std::stod(rows[3][10]), *store_.run(3)->accuracy);
  EXPECT_EQ(std::stod(rows[3][11]), *store_.run(3)->mrd);
  EXPECT_EQ(std::stod(rows[3][12]), 1.875);
  EXPECT_EQ(rows[5][10], "");
  EXPECT_EQ(rows[5][11], "");
  EXPECT_EQ(rows[6][5], hostile.rule);
  EXPECT_EQ(rows[6][14], hostile.name);
}

TEST_F(ResultsCommand, MeansOverSeeds) {
  fill();
  const Finished finished = run({"--mean"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_EQ(lines.size(), 4u) << finished.out;
  EXPECT_NE(lines[1].find("85.00 +- 7.07   0.00 +- 0.00"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("80.00 +- 14.14  10.00 +- 0.00"), std::string::npos) << lines[2];
  EXPECT_EQ(lines[3], "1 of 5 runs have not finished and are left out");
  const auto rows = parse_csv(run({"--mean", "--csv", "--where", "rule=boba"}).out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1][0], "2");
  EXPECT_NEAR(std::stod(rows[1][8]), 0.8, 1e-12);
  EXPECT_NEAR(std::stod(rows[1][9]), std::sqrt(0.02), 1e-12);
  // A single run has no deviation.
  const Finished one = run({"--mean", "--where", "seed=1"});
  EXPECT_EQ(one.out.find("+-"), std::string::npos) << one.out;
}

// Runs that differ by more than their seed are not averaged, even where the table shows no
// difference.
TEST_F(ResultsCommand, MeansKeepOtherSettingsApart) {
  fill();
  RunHeader other = sample_header("average", "none", 3);
  other.config += "training.learning_rate = 0.2\n";
  add_finished_run(store_, other, {1, 1, 1});
  EXPECT_EQ(parse_csv(run({"--mean", "--csv", "--where", "rule=average"}).out).size(), 3u);
}

TEST_F(ResultsCommand, MeansKeepOtherDataApart) {
  fill();
  RunHeader other = sample_header("average", "none", 3);
  other.data = "another checksum";
  add_finished_run(store_, other, {1, 1, 1});
  EXPECT_EQ(parse_csv(run({"--mean", "--csv", "--where", "rule=average"}).out).size(), 3u);
}

TEST_F(ResultsCommand, Where) {
  fill();
  EXPECT_EQ(lines_of(run({"--where", "rule=boba,seed=2"}).out).size(), 2u);
  EXPECT_EQ(run({"--where", "rule=nobody"}).out, "no run of boba.db fits rule=nobody\n");
  const Finished wrong = run({"--where", "rules=boba"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("no key 'rules'; did you mean rule?"), std::string::npos) << wrong.err;
  const Finished nobody = run({"--csv", "--where", "rule=nobody"});
  EXPECT_EQ(nobody.status, 0);
  EXPECT_EQ(parse_csv(nobody.out).size(), 1u);
}

TEST_F(ResultsCommand, ControlCharactersDoNotReachTheTerminal) {
  ASSERT_TRUE(store_.add_run(sample_header("\x1b[31mred\nline", "none")));
  const Finished finished = run();
  EXPECT_EQ(finished.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(lines_of(finished.out).size(), 2u);
  EXPECT_NE(finished.out.find("\\x1b[31mred\\nline"), std::string::npos) << finished.out;
}

// C1 controls as characters and as bytes, marks that reverse text, bytes that are no UTF-8.
constexpr const char* kHostileRule = "a\xc2\x9b\x9b\xe2\x80\xae\xff,b\n";
constexpr const char* kHostileShown = "a\\x9b\\x9b\\u202e\\xff,b\\n";

TEST_F(ResultsCommand, NoByteOfTheDatabaseReachesTheTerminalUnfiltered) {
  RunHeader hostile = sample_header(kHostileRule, "none");
  hostile.classes = {"\xe2\x80\xae", "b", "c"};
  const std::int64_t id = add_finished_run(store_, hostile, {1, 1, 1});
  EXPECT_NE(run().out.find(kHostileShown), std::string::npos) << run().out;
  EXPECT_NE(run({"--mean"}).out.find(kHostileShown), std::string::npos);
  for (const bool json : {false, true}) {
    std::vector<std::string> words = {"show", std::to_string(id)};
    if (json) words.push_back("--json");
    const Finished shown = run_boba(words, {.folder = folder_.path()});
    ASSERT_EQ(shown.status, 0) << shown.err;
    for (const char* byte : {"\x9b", "\xe2\x80\xae", "\xff"}) {
      EXPECT_EQ(shown.out.find(byte), std::string::npos) << shown.out;
    }
  }
}

TEST_F(ResultsCommand, CsvKeepsTextsExceptOnATerminal) {
  ASSERT_TRUE(store_.add_run(sample_header(kHostileRule, "none")));
  EXPECT_EQ(parse_csv(run({"--csv"}).out)[1][5], kHostileRule);
  const Finished seen =
      run_program({"script", "-qec", boba_program().string() + " results --csv", "/dev/null"},
                  {.folder = folder_.path()});
  ASSERT_EQ(seen.status, 0) << seen.err;
  EXPECT_NE(seen.out.find('"' + std::string(kHostileShown) + '"'), std::string::npos) << seen.out;
}

TEST_F(ResultsCommand, ErrorsAreOneSafeLine) {
  const Finished missing = run({"--db", "no\x1b[2J\nboba: all is well\xe2\x80\xae.db"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.err,
            "boba results: there is no results database no\\x1b[2J\\nboba: all is "
            "well\\u202e.db; 'boba run' makes one, or name another with --db\n");
  const Finished mistyped = run({"--n\x1b[2J"});
  EXPECT_EQ(mistyped.status, 2);
  EXPECT_NE(mistyped.err.find("no option '--n\\x1b[2J'"), std::string::npos) << mistyped.err;
}

// runs and rounds as views without end: every command that reads them says so at once.
TEST_F(ResultsCommand, AHostileDatabaseHangsNoCommand) {
  for (const char* table : {"runs", "rounds"}) {
    const std::string file = folder_ / (std::string(table) + ".db");
    {
      auto store = Store::open(file, OpenMode::kCreate);
      add_finished_run(*store, sample_header(), {1, 1, 1});
    }
    {
      auto database = store::Database::open(file, store::Access::kReadWrite);
      const std::string sql = std::string("DROP TABLE ") + table + "; CREATE VIEW " + table +
                              " AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                              " SELECT 1 AS run, i AS round FROM n";
      ASSERT_TRUE(database->script(sql.c_str()));
    }
    for (const std::vector<std::string>& words : {std::vector<std::string>{"results", "--db", file},
                                                  {"show", "1", "--db", file},
                                                  {"report", "--db", file},
                                                  {"paper", "report", "--db", file},
                                                  {"paper", "list", "--db", file},
                                                  {"results", "import", file}}) {
      const Finished finished = run_boba(words, {.folder = folder_.path()});
      EXPECT_EQ(finished.status, 1) << words[0];
      EXPECT_NE(finished.err.find(std::string("its view '") + table +
                                  "' is not the table that boba makes"),
                std::string::npos)
          << words[0] << ": " << finished.err;
    }
  }
}

TEST_F(ResultsCommand, NothingYet) {
  EXPECT_EQ(run().out, "boba.db has no runs yet; 'boba run' adds them\n");
  EXPECT_EQ(run({"--mean"}).status, 0);
  const Finished missing = run({"--db", "none.db"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.err,
            "boba results: there is no results database none.db; 'boba run' makes one, or name "
            "another with --db\n");
  write_text(folder_.path() / "text.db", std::string(1000, 't'));
  const Finished text = run({"--db", "text.db"});
  EXPECT_EQ(text.status, 1);
  EXPECT_NE(text.err.find("text.db: file is not a database"), std::string::npos) << text.err;
}

}  // namespace
}  // namespace boba::test
