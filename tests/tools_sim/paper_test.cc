// boba paper and boba results import, from the outside.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "simulator/store/store.h"
#include "tests/support/store_samples.h"
#include "tests/support/tools_process.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

constexpr const char* kTiny = R"toml(# A table on built-in data
title = "Tiny"
what = "Table 0"
about = "Two rules on built-in data."
kind = "table"

[[grid]]
name = "all"
experiment = "synthetic"
seeds = 2
set = ['rule=["average", "boba(f=3)"]', 'training.rounds=8', 'data.set=synthetic(train=800,test=200)']
quick = ['training.rounds=4', 'attack=ipm']
)toml";

constexpr const char* kTinyMeasured = R"toml(title = "Tiny components"
kind = "pca"

[[grid]]
name = "all"
experiment = "synthetic"
set = ['rule=average', 'attack=none', 'data.partition=["iid", "shards(per_client=2)"]']
)toml";

class PaperCommand : public ::testing::Test {
 protected:
  PaperCommand() {
    write_text(folder_ / "tiny.toml", kTiny);
    write_text(folder_ / "measured.toml", kTinyMeasured);
  }

  Finished boba(std::vector<std::string> arguments) {
    return run_boba(std::move(arguments), {.folder = folder_.path()});
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  TemporaryFolder folder_;
};

TEST_F(PaperCommand, ListShowsAllAndMakesNothing) {
  const Finished list = boba({"paper", "list"});
  ASSERT_EQ(list.status, 0) << list.err;
  for (const char* name :
       {"unbiasedness", "robustness", "corruption", "ablation", "pca", "picture", "time",
        "server-noise", "server-skew", "server-size", "loss-ratio", "server-mix", "tolerance",
        "pmin", "step", "dirichlet", "participation", "frameworks"}) {
    EXPECT_TRUE(has(list.out, std::string("\n") + name + " ")) << name;
  }
  EXPECT_TRUE(has(list.out, "Table 2"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "boba-paper.db"));
  EXPECT_NE(boba({"paper", "list", "--quick"}).out, list.out);
}

TEST_F(PaperCommand, RunsReportsAndGoesOn) {
  const Finished run = boba({"paper", "run", "tiny.toml"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(has(run.out, "Tiny (Table 0): 8 runs")) << run.out;
  EXPECT_TRUE(has(run.out, "'boba paper report --db boba-paper.db' compares")) << run.out;
  const Finished list = boba({"paper", "list", "tiny.toml"});
  EXPECT_TRUE(has(list.out, "8     8      2          0")) << list.out;
  // Nothing is run twice.
  const Finished again = boba({"paper", "run", "tiny.toml"});
  EXPECT_EQ(again.status, 0);
  EXPECT_FALSE(has(again.err, "after 8 rounds")) << again.err;
  const Finished report = boba({"paper", "report", "tiny.toml", "--csv", "numbers"});
  ASSERT_EQ(report.status, 0) << report.err;
  EXPECT_EQ(report.out,
            "boba-paper.html\nnumbers/numbers.csv\nnumbers/points.csv\nnumbers/facts.csv\n");
  const std::string page = read_text(folder_ / "boba-paper.html");
  EXPECT_TRUE(has(page, "class=\"ours\""));
  EXPECT_TRUE(has(page, "2 seeds · 800 training examples, 200 test examples"));
  const std::string csv = read_text(folder_ / "numbers/numbers.csv");
  EXPECT_TRUE(has(csv, "tiny,synthetic,boba,ipm,,accuracy,,,")) << csv;
  // The numbers give the page again when the database is gone.
  std::filesystem::remove(folder_ / "boba-paper.db");
  const Finished redrawn =
      boba({"paper", "report", "tiny.toml", "--earlier", "numbers", "--out", "again.html"});
  ASSERT_EQ(redrawn.status, 0) << redrawn.err;
  EXPECT_EQ(read_text(folder_ / "again.html"), page);
  // But not where a database was named, and not over numbers that would be lost.
  const Finished named = boba({"paper", "report", "--db", "al.db", "--earlier", "numbers"});
  EXPECT_EQ(named.status, 1);
  EXPECT_TRUE(has(named.err, "there is no results database al.db")) << named.err;
  const Finished over =
      boba({"paper", "report", "tiny.toml", "--earlier", "numbers", "--csv", "numbers"});
  EXPECT_EQ(over.status, 2);
  EXPECT_TRUE(has(over.err, "give it another folder")) << over.err;
}

TEST_F(PaperCommand, SmallVersionsAreRunsOfTheirOwn) {
  const Finished quick = boba({"paper", "run", "tiny.toml", "--quick", "--quiet"});
  ASSERT_EQ(quick.status, 0) << quick.err;
  EXPECT_TRUE(has(quick.out, "2 runs")) << quick.out;
  EXPECT_TRUE(has(quick.out, "boba-paper.db --quick' draws them")) << quick.out;
  EXPECT_TRUE(has(boba({"paper", "list", "tiny.toml"}).out, "8     0")) << "the full ones are left";
  const Finished report = boba({"paper", "report", "tiny.toml", "--quick"});
  EXPECT_EQ(report.status, 0) << report.err;
  EXPECT_TRUE(has(read_text(folder_ / "boba-paper.html"), "small versions"));
}

TEST_F(PaperCommand, MeasuresOnceAndShowsIt) {
  const Finished run = boba({"paper", "run", "measured.toml"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(has(run.out, "2 measured, 0 were there")) << run.out;
  EXPECT_TRUE(has(boba({"paper", "run", "measured.toml"}).out, "0 measured, 2 were there"));
  ASSERT_EQ(boba({"paper", "report", "measured.toml"}).status, 0);
  const std::string page = read_text(folder_ / "boba-paper.html");
  EXPECT_TRUE(has(page, "label skew"));
  EXPECT_TRUE(has(page, "<svg"));
}

TEST_F(PaperCommand, MistakesAreToldBeforeAnythingRuns) {
  const auto wrong = [&](std::vector<std::string> arguments, int status, const std::string& part) {
    const Finished finished = boba(std::move(arguments));
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_TRUE(has(finished.err, part)) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "boba-paper.db"));
  };
  wrong({"paper"}, 2, "list");
  wrong({"paper", "run"}, 2, "give the name of an experiment; 'boba paper list' shows them");
  wrong({"paper", "run", "robustnes"}, 2, "did you mean robustness?");
  wrong({"paper", "run", "tiny.toml", "--grid", "some"}, 2, "its grids are: all");
  wrong({"paper", "run", "tiny.toml", "--set", "training.round=3"}, 2, "rounds");
  wrong({"paper", "run", "tiny.toml", "--seeds", "0"}, 2, "--seeds");
  wrong({"paper", "report"}, 1,
        "there is no results database boba-paper.db; 'boba paper run' makes one");
  wrong({"paper", "report", "--earlier", "nowhere"}, 1, "nowhere/numbers.csv");
  wrong({"paper", "report", "--earlier", ".", "--quick"}, 2, "omit --quick and --set");
  write_text(folder_ / "bad.toml", "title = \"T\"\nkind = \"table\"\ncolour = 1\n");
  wrong({"paper", "run", "bad.toml"}, 2, "bad.toml:3: unknown key colour");
}

TEST_F(PaperCommand, ResultsOfOtherMachinesAreImported) {
  {
    auto other = Store::open(folder_ / "other.db", OpenMode::kCreate);
    add_finished_run(*other, sample_header("average", "none", 1), {1, 1, 0.7});
    auto third = Store::open(folder_ / "third.db", OpenMode::kCreate);
    add_finished_run(*third, sample_header("average", "none", 1), {0.1, 0.1, 0.1});
  }
  const Finished first = boba({"results", "import", "other.db"});
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_TRUE(has(first.out, "1  copied")) << first.out;
  EXPECT_TRUE(has(boba({"results", "--csv"}).out, "average"));
  EXPECT_TRUE(has(boba({"results", "import", "other.db"}).out, "     1  already present\n"));
  const Finished refused = boba({"results", "import", "third.db"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(has(refused.out, "90.00    10.00")) << refused.out;
  EXPECT_TRUE(has(refused.err, "nothing was written. --keep keeps what is in boba.db"));
  const Finished kept = boba({"results", "import", "third.db", "--keep"});
  EXPECT_EQ(kept.status, 0);
  EXPECT_TRUE(has(kept.out, "     1  kept: contradict\n")) << kept.out;
  EXPECT_EQ(boba({"results", "import"}).status, 2);
  const Finished missing = boba({"results", "import", "no.db", "--db", "new.db"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_TRUE(has(missing.err, "there is no results database no.db; nothing was written"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.db"));
  EXPECT_TRUE(has(boba({"results", "--wheer", "x"}).err, "--where"));
}

}  // namespace
}  // namespace boba::test
