// parse_grid and load_grid: sweeps, overrides, files and names.
#include "simulator/experiment/grid.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/experiment_make.h"
#include "tests/support/tools_process.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

using test::lines;

Result<Grid> parse(const std::string& toml, const std::vector<std::string>& sets = {}) {
  std::vector<Override> overrides;
  for (const std::string& each : sets) {
    const Result<Override> parsed = parse_override(each);
    if (!parsed) return parsed.error();
    overrides.push_back(*parsed);
  }
  return parse_grid(toml, "x.toml", "x", overrides);
}

// The runs as "rule attack seed" words.
std::vector<std::string> runs_of(const Result<Grid>& grid) {
  if (!grid) return {grid.error().message};
  std::vector<std::string> runs;
  for (const Experiment& e : grid->experiments) {
    runs.push_back(e.rule + " " + e.attack + " " + std::to_string(e.seed));
  }
  return runs;
}

TEST(Grid, AnEmptyFileIsTheDefaults) {
  const Result<Grid> grid = parse("");
  ASSERT_TRUE(grid) << grid.error().message;
  EXPECT_EQ(grid->name, "x");
  ASSERT_EQ(grid->experiments.size(), 1u);
  EXPECT_EQ(canonical_text(grid->experiments[0]), test::canonical_text(Experiment()));
}

TEST(Grid, ReadsEveryKey) {
  const Result<Grid> grid = parse(lines({"rule = 'mkrum(f=3)|server-mix(lambda=0.75)'",
                                         "attack = \"ipm(gamma=2)\"",
                                         "seed = 7",
                                         "[data]",
                                         "set = \"cifar10\"",
                                         "partition = \"dirichlet(alpha=0.5)\"",
                                         "corruption = \"fog\"",
                                         "severity = 4",
                                         "train = 1_000",
                                         "test = 500",
                                         "length = 9",
                                         "[model]",
                                         "kind = \"cnn\"",
                                         "[training]",
                                         "algorithm = \"fedprox\"",
                                         "rounds = 20",
                                         "learning_rate = 1",
                                         "decay_start = 5",
                                         "decay_every = 2",
                                         "decay = 9e-1",
                                         "local_steps = 3",
                                         "batch = 16",
                                         "mu = 1e-3",
                                         "momentum = 0.5",
                                         "[federation]",
                                         "honest = 33",
                                         "byzantine = 4",
                                         "participation = 0.5",
                                         "byzantine_turnout = \"all\"",
                                         "[server]",
                                         "counts = \"1,2,3,4,5,6,7,8,9,10\"",
                                         "noise = \"shot-noise\"",
                                         "severity = 1",
                                         "[run]",
                                         "evaluate_every = 3"}));
  ASSERT_TRUE(grid) << grid.error().message;
  ASSERT_EQ(grid->experiments.size(), 1u);
  const Experiment& e = grid->experiments[0];
  EXPECT_EQ(e.rule, "mkrum(f=3) | server-mix(lambda=0.75)");
  EXPECT_EQ(e.attack, "ipm(gamma=2)");
  EXPECT_EQ(e.seed, 7u);
  EXPECT_EQ(e.data.set, "cifar10");
  EXPECT_EQ(e.data.partition, "dirichlet(alpha=0.5)");
  EXPECT_EQ(e.data.corruption, "fog");
  EXPECT_EQ(e.data.severity, 4);
  EXPECT_EQ(e.data.train, 1000);
  EXPECT_EQ(e.data.test, 500);
  EXPECT_EQ(e.data.length, DataSection().length);  // images have no words
  EXPECT_EQ(e.model.kind, "cnn");
  EXPECT_EQ(e.training.algorithm, Algorithm::kFedProx);
  EXPECT_EQ(e.training.rounds, 20);
  EXPECT_EQ(e.training.learning_rate, 1);
  EXPECT_EQ(e.training.decay_start, 5);
  EXPECT_EQ(e.training.decay_every, 2);
  EXPECT_EQ(e.training.decay, 0.9);
  EXPECT_EQ(e.training.local_steps, 3);
  EXPECT_EQ(e.training.batch, 16);
  EXPECT_EQ(e.training.mu, 0.001);
  EXPECT_EQ(e.training.momentum, 0.5);
  EXPECT_EQ(e.federation.honest, 33);
  EXPECT_EQ(e.federation.byzantine, 4);
  EXPECT_EQ(e.federation.participation, 0.5);
  EXPECT_EQ(e.federation.byzantine_turnout, ByzantineTurnout::kAll);
  EXPECT_EQ(e.server.counts, "1,2,3,4,5,6,7,8,9,10");
  EXPECT_EQ(e.server.noise, "shot-noise");
  EXPECT_EQ(e.server.severity, 1);
  EXPECT_EQ(e.run.evaluate_every, 3);
}

TEST(Grid, ListsMakeTheirProductWithTheFirstKeySlowest) {
  EXPECT_EQ(
      runs_of(parse(lines({"attack = ['ipm', 'zero']", "seed = [2, 1]", "rule = 'average'"}))),
      (std::vector<std::string>{"average ipm 2", "average ipm 1", "average zero 2",
                                "average zero 1"}));
  EXPECT_EQ(
      runs_of(parse(lines({"seed = [2, 1]", "attack = ['ipm', 'zero']", "rule = 'average'"}))),
      (std::vector<std::string>{"average ipm 2", "average zero 2", "average ipm 1",
                                "average zero 1"}));
}

TEST(Grid, SectionsKeepTheOrderOfTheFile) {
  const Result<Grid> grid =
      parse(lines({"[training]", "rounds = [1, 2]", "[data]", "train = [3, 4]"}));
  ASSERT_TRUE(grid) << grid.error().message;
  std::vector<std::pair<int, int>> runs;
  for (const Experiment& e : grid->experiments) runs.emplace_back(e.training.rounds, e.data.train);
  EXPECT_EQ(runs, (std::vector<std::pair<int, int>>{{1, 3}, {1, 4}, {2, 3}, {2, 4}}));
  // The same in other clothes: dotted keys, one table inline.
  const Result<Grid> dotted =
      parse(lines({"training.rounds = [1, 2]", "data = { train = [3, 4] }"}));
  ASSERT_TRUE(dotted) << dotted.error().message;
  ASSERT_EQ(dotted->experiments.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(canonical_text(dotted->experiments[i]), canonical_text(grid->experiments[i]));
  }
}

TEST(Grid, EqualRunsStandOnce) {
  EXPECT_EQ(runs_of(parse("rule = ['krum(f=2)', 'krum( f = 2 )', 'krum(f=2,neighbours=0)']")),
            (std::vector<std::string>{"krum(f=2) none 1"}));
  EXPECT_EQ(runs_of(parse("seed = [1, 1, 2, 1]")),
            (std::vector<std::string>{"boba(f=16) none 1", "boba(f=16) none 2"}));
  // Nobody attacks: the number of attackers makes no difference.
  const Result<Grid> grid =
      parse(lines({"attack = ['none', 'ipm']", "[federation]", "byzantine = [5, 10]"}));
  ASSERT_TRUE(grid) << grid.error().message;
  ASSERT_EQ(grid->experiments.size(), 3u);
  EXPECT_EQ(grid->experiments[0].federation.byzantine, 0);
  EXPECT_EQ(grid->experiments[1].federation.byzantine, 5);
  EXPECT_EQ(grid->experiments[2].federation.byzantine, 10);
}

TEST(Grid, NumbersMayBeWhole) {
  const Result<Grid> grid = parse(lines({"[training]", "learning_rate = [1, 0.5, 1e-3, +2]"}));
  ASSERT_TRUE(grid) << grid.error().message;
  ASSERT_EQ(grid->experiments.size(), 4u);
  EXPECT_EQ(grid->experiments[0].training.learning_rate, 1);
  EXPECT_EQ(grid->experiments[2].training.learning_rate, 1e-3);
  EXPECT_EQ(grid->experiments[3].training.learning_rate, 2);
}

TEST(Grid, AllRunsAreChecked) {
  const Result<Grid> grid = parse(lines({"rule = ['average', 'krum(f=1)',", "  'krum(f=100)']"}));
  ASSERT_FALSE(grid);
  EXPECT_EQ(grid.error().message.find("x.toml:2: rule = krum(f=100) tolerates"), 0u)
      << grid.error().message;
}

TEST(Override, IsKeyAndValue) {
  const Result<Override> good = parse_override(" training.rounds = 20 ");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->key, "training.rounds");
  EXPECT_EQ(good->value, "20");
  EXPECT_EQ(parse_override("rule=krum(f=2)")->value, "krum(f=2)");
  EXPECT_EQ(parse_override("model.script=")->value, "");
  for (const char* bad : {"", "=", "=5", "rounds", " = 5"}) {
    EXPECT_FALSE(parse_override(bad)) << bad;
  }
  EXPECT_EQ(parse_override("rounds").error().message,
            "--set rounds: expected KEY=VALUE, such as training.rounds=20");
}

TEST(Override, TakesTheFilesPlace) {
  const std::string file = lines({"rule = ['average', 'geomed']", "seed = [1, 2]"});
  EXPECT_EQ(runs_of(parse(file, {"seed=5"})),
            (std::vector<std::string>{"average none 5", "geomed none 5"}));
  EXPECT_EQ(runs_of(parse(file, {"rule=krum(f=2)"})),
            (std::vector<std::string>{"krum(f=2) none 1", "krum(f=2) none 2"}));
  // A sweep keeps the place of its key; new ones come last.
  EXPECT_EQ(
      runs_of(parse(file, {"attack=[\"ipm\",'lie']", "seed=5", "rule=[\"average\",\"geomed\"]"})),
      (std::vector<std::string>{"average ipm 5", "average lie 5", "geomed ipm 5", "geomed lie 5"}));
  // The last of two wins.
  EXPECT_EQ(runs_of(parse(file, {"rule=average", "seed=5", "seed=6"})),
            (std::vector<std::string>{"average none 6"}));
}

TEST(Override, TextNeedsNoQuotes) {
  EXPECT_EQ(runs_of(parse("rule = 'average'", {"attack=nan"})),
            (std::vector<std::string>{"average nan 1"}));
  EXPECT_EQ(runs_of(parse("rule = 'average'", {"attack=inf"})),
            (std::vector<std::string>{"average inf 1"}));
  EXPECT_EQ(runs_of(parse("", {"rule='average'", "attack=\"zero\""})),
            (std::vector<std::string>{"average zero 1"}));
  EXPECT_EQ(runs_of(parse("", {"rule=bucketing(s=2) | krum(f=1,neighbours=2)"})),
            (std::vector<std::string>{"bucketing | krum(f=1,neighbours=2) none 1"}));
  const Result<Grid> algorithm = parse("", {"training.algorithm=fedavg"});
  ASSERT_TRUE(algorithm) << algorithm.error().message;
  EXPECT_EQ(algorithm->experiments[0].training.algorithm, Algorithm::kFedAvg);
  const Result<Grid> counts = parse("", {"server.counts=1,2,3,4,5,6,7,8,9,10"});
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->experiments[0].server.counts, "1,2,3,4,5,6,7,8,9,10");
}

TEST(Override, MayMendAFile) {
  EXPECT_FALSE(parse("rule = 'krum(f=100)'"));
  EXPECT_TRUE(parse("rule = 'krum(f=100)'", {"rule=krum(f=10)"}));
}

TEST(LoadGrid, ReadsAFile) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "my.run.toml", "rule = 'average'\nseed = [3, 4]\n");
  const Result<Grid> grid = load_grid(folder / "my.run.toml");
  ASSERT_TRUE(grid) << grid.error().message;
  EXPECT_EQ(grid->name, "my.run");
  EXPECT_EQ(grid->experiments.size(), 2u);

  test::write_text(folder / "bad.toml", "\n\nrul = 'average'\n");
  const Result<Grid> bad = load_grid(folder / "bad.toml");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message.find(folder / "bad.toml:3: unknown key rul; did you mean rule?"),
            0u)
      << bad.error().message;
}

TEST(LoadGrid, SaysWhatIsNotThere) {
  const test::TemporaryFolder folder;
  const Result<Grid> folder_itself = load_grid(folder.path().string());
  ASSERT_FALSE(folder_itself);
  EXPECT_EQ(folder_itself.error().code, ErrorCode::kIo);
  // Opening it would wait for ever.
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const Result<Grid> pipe = load_grid(folder / "pipe");
  ASSERT_FALSE(pipe);
  EXPECT_NE(pipe.error().message.find("pipe: it is not a regular file"), std::string::npos);

  const Result<Grid> unknown = load_grid("mnits");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "no file or shipped experiment 'mnits'; did you mean mnist? shipped experiments are: "
            "ag-news, cifar10, fashion-mnist, mnist, quickstart, synthetic");
  EXPECT_FALSE(load_grid(""));
  EXPECT_FALSE(load_grid(folder / "none.toml"));
  EXPECT_FALSE(load_grid(std::string("mni\0st", 6)));
}

}  // namespace
}  // namespace boba
