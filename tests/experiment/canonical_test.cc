// canonical_text and experiment_from_text: equal texts mean equal runs.
#include <gtest/gtest.h>

#include <set>

#include "simulator/experiment/experiment.h"
#include "simulator/experiment/faults.h"
#include "simulator/experiment/keys.h"
#include "simulator/experiment/resolved.h"
#include "tests/support/experiment_make.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

using test::canonical_text;
using test::resolved;

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

bool has_key(const std::string& text, const std::string& key) {
  return ("\n" + text).find("\n" + key + " = ") != std::string::npos;
}

TEST(CanonicalText, OfTheDefaults) {
  EXPECT_EQ(canonical_text(Experiment()),
            "rule = boba(f=16)\n"
            "attack = none\n"
            "seed = 1\n"
            "data.set = fashion-mnist\n"
            "data.partition = pairs\n"
            "data.corruption = none\n"
            "data.train = 0\n"
            "data.test = 0\n"
            "model.kind = mlp\n"
            "training.algorithm = fedsgd\n"
            "training.rounds = 200\n"
            "training.learning_rate = 0.1\n"
            "training.decay = 1\n"
            "training.batch = 0\n"
            "training.momentum = 0\n"
            "federation.honest = 100\n"
            "federation.byzantine = 0\n"
            "federation.participation = 1\n"
            "server.per_class = 20\n"
            "server.noise = none\n"
            "run.evaluate_every = 10\n");
}

// Exact products leave no line, so that runs of before keep their text.
TEST(CanonicalText, NamesSketchesWhereThereAreAny) {
  Experiment e;
  EXPECT_EQ(canonical_text(e).find("gram"), std::string::npos);
  e.run.gram = "sketch( length=4096, seed=0 )";
  EXPECT_TRUE(canonical_text(e).ends_with("run.evaluate_every = 10\nrun.gram = sketch\n"));
  const Result<Experiment> again = experiment_from_text(canonical_text(e));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->run.gram, "sketch");
  e.run.gram = "sketch(length=1024)";
  EXPECT_TRUE(canonical_text(e).ends_with("run.gram = sketch(length=1024)\n"));
  e.rule = "average";
  EXPECT_EQ(canonical_text(e).find("gram"), std::string::npos) << "nothing to sketch";
}

TEST(CanonicalText, ComesBackFromItsText) {
  std::set<std::string> texts;
  for (std::uint64_t number = 0; number < 2000; ++number) {
    const Experiment experiment = test::random_experiment(number);
    const Result<void> good = check(experiment);
    ASSERT_TRUE(good) << number << ": " << good.error().message;
    const std::string text = canonical_text(experiment);
    const Result<Experiment> again = experiment_from_text(text);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(canonical_text(*again), text);
    EXPECT_TRUE(check(*again)) << check(*again).error().message;
    // What was read is the normal form, key by key, with the keys that the text leaves out.
    const ResolvedExperiment normal = resolved(experiment);
    for (const Key& key : keys()) {
      EXPECT_EQ(key.print(*again), key.print(normal)) << key.path();
    }
    texts.insert(text);
  }
  EXPECT_GT(texts.size(), 1990u);
}

// A change of any key that bears on the numbers changes the text; of another it does not.
TEST(CanonicalText, TellsRunsApartByEveryKeyThatMatters) {
  for (std::uint64_t number = 0; number < 100; ++number) {
    const ResolvedExperiment normal = resolved(test::random_experiment(number));
    const Experiment other = test::random_experiment(number + 1000);
    for (const Key& key : keys()) {
      if (key.info.type == "text") continue;
      Experiment changed = normal;
      const Value value = value_of_text(key, key.print(other));
      ASSERT_TRUE(key.read(value, changed)) << key.path();
      const bool differs = key.print(changed) != key.print(normal);
      const bool muted = !key.matters(normal) ||
                         (key.path() == "federation.byzantine" && normal.attack == "none") ||
                         (key.section() == "server" && !normal.uses_server());
      EXPECT_EQ(canonical_text(changed) != canonical_text(normal), differs && !muted)
          << key.path() << "\n"
          << canonical_text(changed);
    }
  }
}

TEST(CanonicalText, SpellsSpecsOneWay) {
  Experiment a;
  a.rule = " mkrum( m=5 ,f=2)|server-mix(lambda=0.75)";
  a.attack = "ipm(gamma=10.0)";
  a.data.partition = "pairs()";
  a.model.kind = "mlp(width=200)";
  a.server.counts = " 1,2, 3,4,5,6,7,8,9,10 ";
  const std::string text = canonical_text(a);
  EXPECT_TRUE(has_line(text, "rule = mkrum(f=2,m=5) | server-mix(lambda=0.75)")) << text;
  EXPECT_TRUE(has_line(text, "attack = ipm")) << text;
  EXPECT_TRUE(has_line(text, "data.partition = pairs")) << text;
  EXPECT_TRUE(has_line(text, "model.kind = mlp")) << text;
  EXPECT_TRUE(has_line(text, "server.counts = 1,2,3,4,5,6,7,8,9,10")) << text;
  EXPECT_FALSE(has_key(text, "server.per_class")) << text;
}

TEST(CanonicalText, LeavesOutWhatBearsOnNothing) {
  Experiment e;
  e.training.local_steps = 9;
  e.training.mu = 9;
  EXPECT_EQ(canonical_text(e), canonical_text(Experiment()));
  e.training.algorithm = Algorithm::kFedAvg;
  EXPECT_TRUE(has_line(canonical_text(e), "training.local_steps = 9"));
  EXPECT_FALSE(has_key(canonical_text(e), "training.mu"));
  e.training.algorithm = Algorithm::kFedProx;
  EXPECT_TRUE(has_line(canonical_text(e), "training.mu = 9"));

  // A batch bears on fedsgd too: a client's one step may see a part of its examples.
  Experiment batched;
  batched.training.batch = 9;
  EXPECT_TRUE(has_line(canonical_text(batched), "training.batch = 9"));

  Experiment images;
  images.data.length = 7;
  images.data.severity = 5;
  images.server.severity = 5;
  images.federation.byzantine_turnout = ByzantineTurnout::kAll;
  EXPECT_EQ(canonical_text(images), canonical_text(Experiment()));
  images.federation.participation = 0.5;
  // It says whether f is scaled, so it counts without attackers too.
  EXPECT_TRUE(has_line(canonical_text(images), "federation.byzantine_turnout = all"));
  images.rule = "coomed";
  EXPECT_FALSE(has_key(canonical_text(images), "federation.byzantine_turnout"));
  images.attack = "ipm";
  EXPECT_TRUE(has_line(canonical_text(images), "federation.byzantine_turnout = all"));
  images.data.set = "ag-news";
  EXPECT_TRUE(has_line(canonical_text(images), "data.length = 7"));
}

TEST(CanonicalText, RunsWithAndWithoutAnAttackHaveTheSameF) {
  Experiment attacked;
  attacked.rule = "boba(f=16)";
  attacked.attack = "ipm";
  attacked.federation.participation = 0.5;
  for (const ByzantineTurnout turnout : {ByzantineTurnout::kSampled, ByzantineTurnout::kAll}) {
    attacked.federation.byzantine_turnout = turnout;
    Experiment calm = attacked;
    calm.attack = "none";
    EXPECT_EQ(resolved(calm).round_aggregator.spec(), resolved(attacked).round_aggregator.spec());
  }
}

TEST(CanonicalText, HasNoServerDataWhereTheRuleUsesNone) {
  Experiment a;
  a.rule = "average";
  Experiment b = a;
  b.server = {.per_class = 0, .counts = "1,2,3", .noise = "shot-noise", .severity = 1};
  EXPECT_EQ(canonical_text(a), canonical_text(b));
  EXPECT_TRUE(has_line(canonical_text(b), "server.per_class = 0"));
  a.rule = "average | server-mix(lambda=0.5)";
  EXPECT_TRUE(has_line(canonical_text(a), "server.per_class = 20"));
}

TEST(CanonicalText, EqualCountsAreANumberPerClass) {
  Experiment e;
  e.server.counts = "7,7,7,7,7,7,7,7,7,7";
  EXPECT_TRUE(has_line(canonical_text(e), "server.per_class = 7"));
  EXPECT_FALSE(has_key(canonical_text(e), "server.counts"));
  e.server.counts = "7,7,7,7";  // not one for each of ten classes: to be refused, not hidden
  EXPECT_TRUE(has_line(canonical_text(e), "server.counts = 7,7,7,7"));
}

TEST(CanonicalText, HasNoByzantineClientsWhereNobodyAttacks) {
  Experiment e;
  e.federation.byzantine = 15;
  EXPECT_TRUE(has_line(canonical_text(e), "federation.byzantine = 0"));
  e.attack = "labelflip";
  EXPECT_TRUE(has_line(canonical_text(e), "federation.byzantine = 15"));
}

TEST(CanonicalText, KeepsEveryDigit) {
  Experiment e;
  for (const double rate : {0.1, 1.0 / 3, 1e-12, 123456.789, 1e6, 0.30000000000000004}) {
    e.training.learning_rate = rate;
    EXPECT_EQ(experiment_from_text(canonical_text(e))->training.learning_rate, rate);
  }
  e.seed = kLargestSeed;
  EXPECT_EQ(experiment_from_text(canonical_text(e))->seed, kLargestSeed);
}

TEST(CanonicalText, KeepsTheScriptsName) {
  Experiment e;
  e.model.kind = "script";
  e.model.script = " a b = c/\u00e9.pt ";
  const Result<Experiment> again = experiment_from_text(canonical_text(e));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->model.script, e.model.script);
}

TEST(ExperimentFromText, SaysWhatIsWrong) {
  const std::string start = "rule = average\nattack = none\nseed = 1\n";
  const auto error_of = [&](const std::string& more) {
    const Result<Experiment> read = experiment_from_text(start + more);
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(error_of(""), "");
  EXPECT_EQ(error_of("seed = 2\n"), "line 4 of the experiment: seed is given twice");
  EXPECT_EQ(error_of("training.rounds = x\n"),
            "line 4 of the experiment: training.rounds needs a whole number; got the text 'x'");
  EXPECT_EQ(error_of("training.rounds = 0\n"),
            "line 4 of the experiment: training.rounds=0 is outside [1, 1000000]");
  EXPECT_NE(error_of("training.round = 5\n").find("did you mean rounds?"), std::string::npos);
  EXPECT_NE(error_of("round = 5\n"), "");
  EXPECT_NE(error_of("trainig.rounds = 5\n").find("unknown section [trainig]"), std::string::npos);
  EXPECT_NE(error_of("\n"), "");
  EXPECT_NE(error_of("seed"), "");
  EXPECT_NE(error_of(std::string("a\0b", 3)), "");
  EXPECT_EQ(experiment_from_text("").error().message,
            "the text is not an experiment: it has no rule");
}

TEST(Baseline, IsTheAverageWithoutAttack) {
  Experiment e = test::random_experiment(3);
  e.federation.participation = 0.5;
  e.rule = "boba(f=3)";
  e.attack = "ipm";
  const ResolvedExperiment baseline = baseline_of(resolved(e));
  EXPECT_EQ(baseline.rule, "average");
  EXPECT_EQ(baseline.attack, "none");
  EXPECT_EQ(baseline.federation.byzantine, 0);
  EXPECT_EQ(baseline.seed, e.seed);
  EXPECT_EQ(baseline.training.rounds, e.training.rounds);
  EXPECT_EQ(canonical_text(baseline), canonical_text(baseline_of(baseline)));
  // All rules, attacks and server data of one federation share it.
  Experiment other = e;
  other.rule = "fltrust";
  other.attack = "labelflip";
  other.federation.byzantine = 3;
  other.server.per_class = 1;
  other.federation.byzantine_turnout = e.federation.byzantine_turnout == ByzantineTurnout::kAll
                                           ? ByzantineTurnout::kSampled
                                           : ByzantineTurnout::kAll;
  EXPECT_EQ(canonical_text(baseline_of(resolved(other))), canonical_text(baseline));
  EXPECT_TRUE(check(baseline)) << check(baseline).error().message;
}

}  // namespace
}  // namespace boba
