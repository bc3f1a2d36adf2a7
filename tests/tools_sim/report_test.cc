// boba report on the command line. tests/report looks at the page itself.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/tools_process.h"

namespace boba::test {
namespace {

class ReportCommand : public ::testing::Test {
 protected:
  Finished run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "report");
    return run_boba(arguments, {.folder = folder_.path()});
  }
  void expect_failure(const Finished& finished, int status, const std::string& part) {
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_TRUE(finished.err.starts_with("boba report: ")) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
  }

  TemporaryFolder folder_;
};

TEST_F(ReportCommand, TeachesWhereThereIsNoDatabase) {
  expect_failure(run({}), 1, "there is no results database boba.db; 'boba run'");
  expect_failure(run({"--db", "other.db"}), 1, "other.db");
  EXPECT_TRUE(folder_.names().empty()) << "nothing is created";
}

TEST_F(ReportCommand, RefusesAFileThatIsNoDatabase) {
  write_text(folder_.path() / "boba.db", "this is no database, only a few words about one");
  expect_failure(run({}), 1, "boba.db");
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"boba.db"});
}

TEST_F(ReportCommand, DoesNotOverwriteTheDatabase) {
  write_text(folder_.path() / "boba.db", "precious");
  expect_failure(run({"--out", "./boba.db"}), 2, "is the database itself");
  EXPECT_EQ(read_text(folder_.path() / "boba.db"), "precious");
}

TEST_F(ReportCommand, WritesThePageOfARun) {
  write_text(folder_.path() / "tiny.toml", R"toml(
rule = ["average", "boba(f=2)"]
attack = ["none", "ipm"]
[data]
set = "synthetic"
partition = "iid"
[training]
rounds = 2
[federation]
honest = 10
byzantine = 2
)toml");
  const Finished ran =
      run_boba({"run", "tiny.toml", "--db", "runs.db"}, {.folder = folder_.path()});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const Finished finished = run({"--db", "runs.db", "--out", "page.html", "--title", "A & B"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, "page.html\n");
  const std::string html = read_text(folder_.path() / "page.html");
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(html.find("<h1>A &amp; B</h1>"), std::string::npos);
  EXPECT_NE(html.find("4 runs, all finished"), std::string::npos);
  const Finished some = run({"--db", "runs.db", "--where", "attack=ipm"});
  ASSERT_EQ(some.status, 0) << some.err;
  EXPECT_EQ(some.out, "boba-report.html\n");
  EXPECT_NE(read_text(folder_.path() / "boba-report.html").find("2 runs, all finished"),
            std::string::npos);
  expect_failure(run({"--db", "runs.db", "--where", "colour=red"}), 1, "colour");
  expect_failure(run({"--db", "runs.db", "--out", "no/such/x.html"}), 1, "no/such/x.html");
}

}  // namespace
}  // namespace boba::test
