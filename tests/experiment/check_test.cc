// check(): what is refused before anything runs, and what it says.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "boba/attacks/registry.h"
#include "boba/core/kernels.h"
#include "boba/core/round.h"
#include "boba/kernels/reference/reference.h"
#include "boba/rules/registry.h"
#include "boba/text/names.h"
#include "simulator/data/corruption.h"
#include "simulator/experiment/experiment.h"
#include "simulator/experiment/faults.h"
#include "simulator/experiment/resolved.h"
#include "tests/support/experiment_make.h"
#include "tests/support/tools_process.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

template <class Change>
std::string error_with(Change change) {
  Experiment experiment;
  change(experiment);
  const Result<void> good = check(experiment);
  return good ? "" : good.error().message;
}

std::optional<Fault> fault_of(const Experiment& experiment) {
  auto checked = resolve_and_check(experiment);
  if (Fault* fault = std::get_if<Fault>(&checked)) return std::move(*fault);
  return {};
}

TEST(Check, TheDefaultsAreGood) {
  EXPECT_EQ(error_with([](Experiment&) {}), "");
}

TEST(Check, RefusesNumbersOutOfRange) {
  EXPECT_EQ(error_with([](Experiment& e) { e.training.rounds = 0; }),
            "training.rounds=0 is outside [1, 1000000]");
  EXPECT_EQ(error_with([](Experiment& e) { e.training.learning_rate = -0.5; }),
            "training.learning_rate=-0.5 is outside [1e-12, 1000000]");
  EXPECT_NE(error_with([](Experiment& e) {
              e.training.learning_rate = std::numeric_limits<double>::quiet_NaN();
            }),
            "");
  EXPECT_NE(
      error_with([](Experiment& e) { e.training.mu = std::numeric_limits<double>::infinity(); }),
      "");
  EXPECT_NE(error_with([](Experiment& e) { e.federation.participation = 0; }), "");
  EXPECT_NE(error_with([](Experiment& e) { e.federation.participation = 1.1; }), "");
  EXPECT_NE(error_with([](Experiment& e) { e.federation.byzantine = -1; }), "");
  EXPECT_NE(error_with([](Experiment& e) { e.training.momentum = 1; }), "");
  EXPECT_NE(error_with([](Experiment& e) { e.data.severity = 6; }), "");
  EXPECT_EQ(error_with([](Experiment& e) { e.seed = UINT64_MAX; }),
            "seed=18446744073709551615 is outside [0, 9223372036854775807]");
  EXPECT_EQ(error_with([](Experiment& e) { e.training.algorithm = static_cast<Algorithm>(3); }),
            "training.algorithm=3 is none of: fedsgd, fedavg, fedprox");
}

TEST(Check, RefusesTextThatWouldBreakTheCanonicalText) {
  EXPECT_EQ(error_with([](Experiment& e) { e.model.script = "a\nrule = average"; }),
            "model.script has a control character or a line end: 'a\\nrule = average'");
  EXPECT_NE(error_with([](Experiment& e) { e.model.script = std::string("a\0b", 3); }), "");
  EXPECT_NE(error_with([](Experiment& e) { e.model.script = std::string(5000, 'a'); }), "");
}

TEST(Check, RefusesSpecsThatCannotBeRead) {
  EXPECT_NE(error_with([](Experiment& e) {
              e.rule = "krumm(f=1)";
            }).find("rule: no rule 'krumm'; did you mean krum?"),
            std::string::npos);
  EXPECT_EQ(error_with([](Experiment& e) { e.rule = "krum(g=1)"; }),
            "rule: krum: no option g; options are: f, neighbours");
  EXPECT_EQ(error_with([](Experiment& e) { e.attack = "non"; }),
            "attack: no attack 'non'; did you mean none? attacks are: none, labelflip, " +
                join(entry_names(attacks())));
  EXPECT_EQ(error_with([](Experiment& e) { e.attack = "none(f=1)"; }),
            "attack: none takes no options; got f");
  EXPECT_NE(
      error_with([](Experiment& e) { e.attack = "labelflop"; }).find("did you mean labelflip?"),
      std::string::npos);
  EXPECT_NE(error_with([](Experiment& e) { e.attack = "ipm | lie"; }), "");
  EXPECT_NE(error_with([](Experiment& e) { e.attack = ""; }), "");
  EXPECT_EQ(error_with([](Experiment& e) { e.model.kind = "mpl"; }),
            "model.kind: no model 'mpl'; did you mean mlp? models are: mlp, cnn, gru, script");
  EXPECT_EQ(error_with([](Experiment& e) { e.data.set = "mnits"; }).find("data.set: "), 0u);
  EXPECT_EQ(error_with([](Experiment& e) { e.data.partition = "pair"; }).find("data.partition: "),
            0u);
  EXPECT_EQ(error_with([](Experiment& e) { e.data.corruption = "fogg"; }).find("data.corruption: "),
            0u);
  EXPECT_EQ(error_with([](Experiment& e) { e.server.noise = "all"; }).find("server.noise: "), 0u);
  EXPECT_EQ(error_with([](Experiment& e) { e.run.gram = "sketch(length=100)"; }),
            "run.gram: sketch: length=100 is not a power of two; 64 is");
  EXPECT_EQ(error_with([](Experiment& e) { e.run.gram = "approximate"; }).find("run.gram: "), 0u);
  EXPECT_EQ(error_with([](Experiment& e) { e.run.gram = "sketch"; }), "");
}

TEST(Check, ModelsReadTheirKindOfData) {
  EXPECT_EQ(error_with([](Experiment& e) { e.model.kind = "gru"; }),
            "model.kind = gru reads texts, data.set = fashion-mnist has images; use mlp, cnn or "
            "script");
  const auto texts = [](Experiment& e) {
    e.data.set = "ag-news";
    e.federation.honest = 160;
  };
  EXPECT_EQ(error_with([&](Experiment& e) { texts(e); }),
            "model.kind = mlp reads images, data.set = ag-news has texts; use gru or script");
  EXPECT_EQ(error_with([&](Experiment& e) {
              texts(e);
              e.model.kind = "gru";
            }),
            "");
  EXPECT_EQ(error_with([&](Experiment& e) {
              texts(e);
              e.model.kind = "gru";
              e.data.corruption = "fog";
            }),
            "data.corruption = fog needs images, data.set = ag-news has texts; set data.corruption "
            "= none");
  EXPECT_NE(error_with([&](Experiment& e) {
              texts(e);
              e.model.kind = "gru";
              e.server.noise = "shot-noise";
            })
                .find("server.noise = shot-noise needs images, data.set = ag-news has texts; set "
                      "server.noise = none"),
            std::string::npos);
}

TEST(Check, EveryCorruptionMayBeNamed) {
  for (const CorruptionInfo& info : all_corruptions()) {
    EXPECT_EQ(error_with([&](Experiment& e) { e.server.noise = info.name; }), "");
  }
  for (const CorruptionInfo& info : common_corruptions()) {
    EXPECT_EQ(error_with([&](Experiment& e) { e.data.corruption = info.name; }), "");
  }
  EXPECT_EQ(error_with([](Experiment& e) { e.data.corruption = "all"; }), "");
}

TEST(Check, ScriptsHaveAFile) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "net.pt", "x");
  EXPECT_EQ(error_with([&](Experiment& e) {
              e.model.kind = "script";
              e.model.script = folder / "net.pt";
            }),
            "");
  EXPECT_EQ(error_with([](Experiment& e) { e.model.kind = "script"; }),
            "model.kind = script needs model.script, a TorchScript file");
  EXPECT_NE(error_with([&](Experiment& e) {
              e.model.kind = "script";
              e.model.script = folder / "other.pt";
            }).find("there is no such file"),
            std::string::npos);
  EXPECT_NE(error_with([&](Experiment& e) {
              e.model.kind = "script";
              e.model.script = folder.path().string();
            }),
            "");
  EXPECT_EQ(error_with([](Experiment& e) { e.model.script = "net.pt"; }),
            "model.script = net.pt is read by model.kind = script only; got mlp");
}

TEST(Check, PairsNeedAClientForEachPair) {
  EXPECT_NE(error_with([](Experiment& e) {
              e.federation.honest = 90;
            }).find("federation.honest = 90: pairs needs a multiple of 100 clients"),
            std::string::npos);
  EXPECT_EQ(error_with([](Experiment& e) { e.federation.honest = 300; }), "");
  EXPECT_NE(error_with([](Experiment& e) {
              e.federation.honest = 90;
              e.data.partition = "step(alpha=4)";
            }),
            "");
  EXPECT_EQ(error_with([](Experiment& e) {
              e.federation.honest = 90;
              e.data.partition = "step(alpha=4,majors=1)";
            }),
            "");
  EXPECT_EQ(error_with([](Experiment& e) {
              e.federation.honest = 90;
              e.data.partition = "iid";
            }),
            "");
}

TEST(Check, AnAttackNeedsAttackers) {
  EXPECT_EQ(error_with([](Experiment& e) {
              e.attack = "ipm";
              e.federation.byzantine = 0;
            }),
            "attack = ipm needs Byzantine clients; got federation.byzantine = 0 (for runs "
            "without attackers, write attack = none)");
  EXPECT_EQ(error_with([](Experiment& e) { e.federation.byzantine = 0; }), "");
  EXPECT_EQ(error_with([](Experiment& e) { e.federation.byzantine = 50; }), "");
}

TEST(Check, ACohortHasAnHonestClient) {
  EXPECT_NE(error_with([](Experiment& e) {
              e.federation.participation = 0.004;
            }).find("selects none of 100 honest clients; use at least 0.005"),
            std::string::npos);
  EXPECT_EQ(error_with([](Experiment& e) { e.federation.participation = 0.005; }), "");
}

TEST(Check, AnAttackerComes) {
  const auto few = [](Experiment& e) {
    e.attack = "ipm";
    e.federation.byzantine = 4;
    e.federation.participation = 0.1;
  };
  EXPECT_EQ(
      error_with(few),
      "federation.participation = 0.1 selects none of 4 Byzantine clients, so attack = ipm never "
      "happens; use at least 0.125 or byzantine_turnout = all");
  EXPECT_EQ(error_with([&](Experiment& e) {
              few(e);
              e.federation.participation = 0.125;
            }),
            "");
  EXPECT_EQ(error_with([&](Experiment& e) {
              few(e);
              e.rule = "boba(f=4)";  // not scaled
              e.federation.byzantine_turnout = ByzantineTurnout::kAll;
            }),
            "");
  EXPECT_EQ(error_with([&](Experiment& e) {
              few(e);
              e.attack = "none";
            }),
            "");
}

TEST(Check, NoRuleToleratesEverybody) {
  EXPECT_EQ(error_with([](Experiment& e) { e.rule = "rage(f=100)"; }),
            "rule = rage(f=100) tolerates f=100 of n=100 clients; f must be below n");
  EXPECT_EQ(error_with([](Experiment& e) { e.rule = "rage(f=99)"; }), "");
  // With the attackers there are more.
  EXPECT_EQ(error_with([](Experiment& e) {
              e.rule = "boba(f=114)";
              e.attack = "ipm";
            }),
            "");
  EXPECT_NE(error_with([](Experiment& e) {
              e.rule = "boba(f=115)";
              e.attack = "ipm";
            }),
            "");
}

std::string error_of_rule(const std::string& rule, const FederationSection& federation = {},
                          const std::string& attack = "none") {
  return error_with([&](Experiment& e) {
    e.rule = rule;
    e.attack = attack;
    e.federation = federation;
  });
}

TEST(Check, RulesCanComputeTheirRounds) {
  EXPECT_EQ(error_of_rule("trmean(f=49)"), "");
  EXPECT_EQ(error_of_rule("trmean(f=50)"),
            "rule = trmean(f=50) cannot be computed: trmean needs n >= 2f + 1; got n=100, f=50");
  EXPECT_EQ(error_of_rule("krum(f=97)"), "");
  EXPECT_NE(error_of_rule("krum(f=98)"), "");
  EXPECT_EQ(error_of_rule("mkrum(f=2,m=100)"), "");
  EXPECT_NE(error_of_rule("mkrum(f=2,m=101)"), "");
  EXPECT_NE(error_of_rule("boba-es(f=16)").find("use boba"), std::string::npos);
  EXPECT_EQ(error_of_rule("boba-es(f=2)"), "");
}

TEST(Check, RulesAreAskedAboutTheRowsThatStagesLeave) {
  // 115 clients make 57 buckets.
  EXPECT_EQ(error_of_rule("bucketing(s=2) | krum(f=54)", {}, "ipm"), "");
  EXPECT_EQ(error_of_rule("bucketing(s=2) | krum(f=55)", {}, "ipm"),
            "rule = bucketing(s=2) | krum(f=55) cannot be computed: krum needs n - f - 2 >= 1; got "
            "n=57, f=55");
  EXPECT_EQ(error_of_rule("bucketing(s=100) | average"), "");
  EXPECT_NE(error_of_rule("bucketing(s=101) | average"), "");
  EXPECT_NE(error_of_rule("bucketing(s=2) | bucketing(s=26) | krum(f=0)", {}, "ipm"), "");
  EXPECT_EQ(error_of_rule("bucketing(s=2) | bucketing(s=19) | krum(f=0)", {}, "ipm"), "");
}

TEST(Check, RulesAreAskedAboutTheClientsThatCome) {
  // 10 honest clients and 1.5, rounded up.
  FederationSection federation{.honest = 100, .byzantine = 15, .participation = 0.1};
  EXPECT_EQ(error_of_rule("trmean(f=54)", federation, "ipm"), "");
  EXPECT_EQ(error_of_rule("trmean(f=55)", federation, "ipm"),
            "rule = trmean(f=55), in a round of 10 honest and 2 Byzantine clients trmean(f=6), "
            "cannot be computed: trmean needs n >= 2f + 1; got n=12, f=6");
  EXPECT_EQ(error_of_rule("trmean(f=44)", federation), "");
  EXPECT_NE(error_of_rule("trmean(f=45)", federation), "");
  // All 15 come and f stays, with an attack and without.
  federation.byzantine_turnout = ByzantineTurnout::kAll;
  EXPECT_EQ(error_of_rule("trmean(f=12)", federation, "ipm"), "");
  EXPECT_NE(error_of_rule("trmean(f=13)", federation, "ipm"), "");
  EXPECT_EQ(error_of_rule("trmean(f=4)", federation), "");
  EXPECT_NE(error_of_rule("trmean(f=5)", federation), "");
}

TEST(Check, MimicCopiesSomebodyWhoComes) {
  FederationSection federation;
  EXPECT_EQ(error_of_rule("average", federation, "mimic(client=99)"), "");
  EXPECT_EQ(error_of_rule("average", federation, "mimic(client=100)"),
            "attack = mimic(client=100): mimic: no honest client 100; the honest ones are 0..99");
  federation.participation = 0.1;
  EXPECT_EQ(error_of_rule("average", federation, "mimic(client=9)"), "");
  EXPECT_NE(error_of_rule("average", federation, "mimic(client=10)"), "");
  EXPECT_EQ(error_of_rule("average", federation, "mimic(client=10,choose=strongest)"), "");
}

TEST(Check, LieHasItsQuantile) {
  EXPECT_EQ(error_of_rule("average", {.honest = 100, .byzantine = 100}, "lie"), "");
  EXPECT_EQ(
      error_of_rule("average", {.honest = 100, .byzantine = 101}, "lie").find("attack = lie: "),
      0u);
  EXPECT_EQ(error_of_rule("average", {.honest = 100, .byzantine = 101}, "lie(z=1)"), "");
}

TEST(Check, ServerDataWhereTheRuleNeedsThem) {
  EXPECT_EQ(error_with([](Experiment& e) { e.server.per_class = 0; }),
            "rule = boba(f=16) needs server data; got server.per_class = 0");
  EXPECT_EQ(error_with([](Experiment& e) {
              e.server.per_class = 0;
              e.rule = "average";
            }),
            "");
  EXPECT_NE(error_with([](Experiment& e) {
              e.server.per_class = 0;
              e.rule = "average | server-mix(lambda=0.5)";
            }),
            "");
}

TEST(Check, CountsAreOnePerClass) {
  const auto with = [](const std::string& counts, const std::string& rule) {
    return error_with([&](Experiment& e) {
      e.server.per_class = 0;
      e.server.counts = counts;
      e.rule = rule;
    });
  };
  EXPECT_EQ(with("1,2,3,4,5,6,7,8,9,10", "boba(f=16)"), "");
  EXPECT_EQ(with("40,40,20,20", "boba(f=16)"),
            "server.counts has 4 numbers; data.set = fashion-mnist has 10 classes");
  EXPECT_EQ(with("0,2,3,4,5,6,7,8,9,10", "boba(f=16)"),
            "server.counts has no sample of class 0; the server's gradient of a class needs at "
            "least one");
  EXPECT_NE(with("1,2,3,4,5,6,7,8,9,0", "fltrust"), "");
  EXPECT_NE(with("0,0,0,0,0,0,0,0,0,0", "fltrust"), "");
  EXPECT_EQ(with("1,2,x", "fltrust"), "server.counts=x is not a whole number; write 40,40,20,20");
  EXPECT_NE(with("1,2,", "fltrust"), "");
  EXPECT_NE(with("1,,2", "fltrust"), "");
  EXPECT_NE(with("1 2", "fltrust"), "");
  EXPECT_NE(with("-1,2,3,4,5,6,7,8,9,10", "fltrust"), "");
  EXPECT_NE(with("99999999999999999999", "fltrust"), "");
}

// Attackers who look at the server's gradients keep its data, whatever the rule.
TEST(Check, AttackersWhoLookAtTheServerKeepItsData) {
  Experiment e;
  e.rule = "average";
  e.attack = "simplex(p_min=-0.2)";
  EXPECT_TRUE(test::resolved(e).uses_server());
  for (const char* attack : {"simplex(classes=10)", "ipm", "none", "labelflip"}) {
    e.attack = attack;
    EXPECT_FALSE(test::resolved(e).uses_server()) << attack;
  }
  e.server.per_class = 7;
  e.attack = "ipm";
  EXPECT_EQ(test::resolved(e).server.per_class, 0);
  e.attack = "simplex";
  EXPECT_EQ(test::resolved(e).server.per_class, 7);
  e.server.per_class = 0;
  ASSERT_TRUE(fault_of(e).has_value());
  EXPECT_EQ(fault_of(e)->message, "attack = simplex needs server data; got server.per_class = 0");
}

TEST(Check, EveryPartNeedsASample) {
  Experiment e;
  e.rule = "boba(f=2,parts=3)";
  e.server.per_class = 3;
  EXPECT_FALSE(fault_of(e).has_value());
  e.server.per_class = 2;
  ASSERT_TRUE(fault_of(e).has_value());
  EXPECT_EQ(fault_of(e)->message,
            "rule = boba(f=2,parts=3) needs at least 3 samples of each class; server.per_class "
            "gives 2");
  EXPECT_EQ(fault_of(e)->keys.front(), "server.per_class");
  e.server.counts = "3,3,3,3,3,3,3,3,3,1";
  ASSERT_TRUE(fault_of(e).has_value());
  EXPECT_EQ(fault_of(e)->message,
            "rule = boba(f=2,parts=3) needs at least 3 samples of each class; server.counts "
            "gives 1");
}

// A rule uses the server's data if and only if it fails without them.
TEST(Check, KnowsWhichRulesUseTheServer) {
  const auto kernels = make_reference_kernels();
  const auto fails_alone = [&](const std::string& spec) {
    UpdateMatrix updates(DType::kFloat64, 9, 3);
    for (std::size_t i = 0; i < 9; ++i) updates.row_as<double>(i)[i % 3] = 1 + 0.1 * double(i);
    Round round;
    round.updates = updates.view();
    std::vector<double> out(3);
    return !make_aggregator(spec)->aggregate(*kernels, round, MutableRow(std::span<double>(out)));
  };
  for (const RuleEntry& entry : rules()) {
    const std::string name(entry.info.name);
    EXPECT_EQ(make_aggregator(name)->uses_server(), fails_alone(name)) << name;
  }
  for (const BlendEntry& entry : blend_stages()) {
    const std::string spec = "average | " + std::string(entry.info.name);
    EXPECT_EQ(make_aggregator(spec)->uses_server(), fails_alone(spec)) << spec;
  }
  for (const MixEntry& entry : mix_stages()) {
    const std::string spec = std::string(entry.info.name) + " | average";
    EXPECT_FALSE(make_aggregator(spec)->uses_server()) << spec;
  }
}

// What the rule says it tolerates is its option f, where it has one.
TEST(Check, RulesSayWhatTheyTolerate) {
  for (const RuleEntry& entry : rules()) {
    const std::vector<OptionInfo> options = entry.options();
    const bool has_f = std::any_of(options.begin(), options.end(),
                                   [](const OptionInfo& option) { return option.name == "f"; });
    const std::string spec = std::string(entry.info.name) + (has_f ? "(f=3)" : "");
    const Result<Aggregator> rule = make_aggregator(spec);
    ASSERT_TRUE(rule) << rule.error().message;
    EXPECT_EQ(rule->tolerance(), has_f ? std::optional<int>(3) : std::nullopt) << spec;
  }
}

}  // namespace
}  // namespace boba
