// What an experiment file may do wrong, with the line it stands on.
#include <gtest/gtest.h>

#include "simulator/experiment/grid.h"
#include "tests/support/experiment_make.h"

namespace boba {
using namespace sim;  // NOLINT
namespace {

using test::lines;

std::string error_of(const std::string& toml, const std::vector<std::string>& sets = {}) {
  std::vector<Override> overrides;
  for (const std::string& each : sets) overrides.push_back(*parse_override(each));
  const Result<Grid> grid = parse_grid(toml, "x.toml", "x", overrides);
  return grid ? "" : grid.error().message;
}

bool starts(const std::string& text, const std::string& with) { return text.starts_with(with); }

TEST(GridErrors, UnknownKeys) {
  EXPECT_EQ(
      error_of(lines({"rule = 'average'", "", "[training]", "# more", "round = 5"})),
      "x.toml:5: unknown key training.round; did you mean rounds? keys of [training] are: "
      "algorithm, rounds, learning_rate, decay_start, decay_every, decay, local_steps, batch, "
      "mu, momentum");
  EXPECT_EQ(
      error_of(lines({"", "rulle = 'average'"})),
      "x.toml:2: unknown key rulle; did you mean rule? keys at the top are: rule, attack, seed; "
      "sections are: data, model, training, federation, server, run");
  EXPECT_EQ(error_of(lines({"[server]", "per_class = 3", "banana = 3"})),
            "x.toml:3: unknown key server.banana; keys of [server] are: per_class, counts, noise, "
            "severity");
}

TEST(GridErrors, KeysInTheWrongPlace) {
  EXPECT_TRUE(
      starts(error_of("rounds = 5"),
             "x.toml:1: unknown key rounds; it belongs to [training]; keys at the top are:"))
      << error_of("rounds = 5");
  EXPECT_TRUE(starts(error_of(lines({"[data]", "seed = 5"})),
                     "x.toml:2: unknown key data.seed; seed belongs at the top of the file, before "
                     "the sections; keys of [data] are:"))
      << error_of(lines({"[data]", "seed = 5"}));
  EXPECT_TRUE(starts(error_of(lines({"[run]", "rounds = 5"})),
                     "x.toml:2: unknown key run.rounds; it belongs to [training];"));
}

TEST(GridErrors, UnknownSections) {
  EXPECT_EQ(
      error_of(lines({"rule = 'average'", "[trainig]"})),
      "x.toml:2: unknown section [trainig]; did you mean training? sections are: data, model, "
      "training, federation, server, run");
  EXPECT_TRUE(starts(error_of(lines({"[trainig]", "rounds = 5"})),
                     "x.toml:1: unknown section [trainig]; did you mean training?"));
  EXPECT_TRUE(starts(error_of(lines({"", "[[training]]", "rounds = 5"})),
                     "x.toml:2: training is a section; write [training] once"));
  EXPECT_TRUE(starts(error_of("data = 'mnist'"), "x.toml:1: data is a section;"));
  EXPECT_TRUE(starts(error_of(lines({"[rule]", "f = 5"})), "x.toml:1: rule is a key, not a"))
      << error_of(lines({"[rule]", "f = 5"}));
  EXPECT_TRUE(starts(error_of(lines({"[data.more]", "x = 1"})), "x.toml:1: unknown key data.more"))
      << error_of(lines({"[data.more]", "x = 1"}));
  EXPECT_EQ(error_of(lines({"[data]", "[data.set]", "x = 1"})),
            "x.toml:2: data.set needs text in quotes; got a table");
  EXPECT_TRUE(starts(error_of("'data.set' = 'mnist'"), "x.toml:1: unknown key data.set"))
      << error_of("'data.set' = 'mnist'");
}

TEST(GridErrors, WrongTypes) {
  EXPECT_EQ(error_of(lines({"", "rule = 5"})),
            "x.toml:2: rule needs text in quotes; got the number 5");
  EXPECT_EQ(error_of("attack = nan"), "x.toml:1: attack needs text in quotes; got the number nan");
  EXPECT_EQ(error_of("seed = 'x'"), "x.toml:1: seed needs a whole number; got the text 'x'");
  EXPECT_EQ(error_of("seed = 1.5"), "x.toml:1: seed needs a whole number; got the number 1.5");
  EXPECT_EQ(error_of("seed = true"), "x.toml:1: seed needs a whole number; got true");
  EXPECT_EQ(error_of("seed = 1979-05-27"),
            "x.toml:1: seed needs a whole number; got a date or a time");
  EXPECT_EQ(error_of(lines({"[training]", "rounds = 1e3"})),
            "x.toml:2: training.rounds needs a whole number, written 1000; got the number 1000");
  EXPECT_EQ(error_of(lines({"[training]", "mu = '1'"})),
            "x.toml:2: training.mu needs a number; got the text '1'");
  EXPECT_EQ(error_of(lines({"[training]", "algorithm = 1"})),
            "x.toml:2: training.algorithm needs one of fedsgd, fedavg, fedprox, in quotes; got the "
            "number 1");
  EXPECT_EQ(error_of(lines({"[training]", "algorithm = 'fedsdg'"})),
            "x.toml:2: training.algorithm=fedsdg is none of: fedsgd, fedavg, fedprox; did you mean "
            "fedsgd?");
}

TEST(GridErrors, OutOfRange) {
  EXPECT_EQ(error_of(lines({"[training]", "", "rounds = 0"})),
            "x.toml:3: training.rounds=0 is outside [1, 1000000]");
  EXPECT_EQ(error_of(lines({"[training]", "rounds = 9223372036854775807"})),
            "x.toml:2: training.rounds=9223372036854775807 is outside [1, 1000000]");
  EXPECT_EQ(error_of("seed = -1"), "x.toml:1: seed=-1 is outside [0, 9223372036854775807]");
  EXPECT_NE(error_of(lines({"[training]", "mu = nan"})), "");
  EXPECT_NE(error_of(lines({"[training]", "mu = inf"})), "");
  EXPECT_NE(error_of(lines({"[training]", "learning_rate = 0"})), "");
}

TEST(GridErrors, InsideListsTheLineIsTheElements) {
  EXPECT_EQ(error_of(lines({"seed = [", "  1,", "  2,", "  'x',", "]"})),
            "x.toml:4: seed needs a whole number; got the text 'x'");
  EXPECT_TRUE(starts(error_of(lines({"rule = [", "  'average',", "  'krumm',", "]"})),
                     "x.toml:3: rule: no rule 'krumm'; did you mean krum?"));
  EXPECT_TRUE(starts(error_of(lines({"attack = ['none',", "'ipm(gama=3)']"})),
                     "x.toml:2: attack: ipm: no option gama; options are: gamma"));
  EXPECT_EQ(error_of("seed = []"),
            "x.toml:1: seed is an empty list; a sweep has at least one value");
  EXPECT_EQ(error_of(lines({"seed = [1,", " [2, 3]]"})),
            "x.toml:2: seed needs a whole number; got a list in a list");
  EXPECT_EQ(error_of(lines({"seed = [1,", " {a = 3}]"})),
            "x.toml:2: seed needs a whole number; got a table");
  EXPECT_EQ(error_of(lines({"[server]", "counts = [40,", "40, 20, 20]"})),
            "x.toml:2: server.counts needs text in quotes; got the number 40; a list is a sweep: "
            "write \"40,40,20,20\"");
}

TEST(GridErrors, CombinationsPointAtAKeyOfTheFile) {
  EXPECT_TRUE(starts(error_of(lines({"[data]", "set = 'mnist'", "[model]", "kind = 'gru'"})),
                     "x.toml:4: model.kind = gru reads texts"));
  // The model is the default here: the data set is what the file says.
  EXPECT_TRUE(starts(error_of(lines({"[data]", "set = 'ag-news'"})),
                     "x.toml:2: model.kind = mlp reads images"));
  // The element that takes part, not the first.
  EXPECT_TRUE(starts(error_of(lines({"[model]", "kind = ['mlp',", "'gru']"})),
                     "x.toml:3: model.kind = gru reads texts"));
  EXPECT_TRUE(starts(error_of(lines({"attack = 'ipm'", "[federation]", "byzantine = 0"})),
                     "x.toml:3: attack = ipm needs Byzantine clients"));
  EXPECT_TRUE(starts(error_of(lines({"[federation]", "honest = 90"})),
                     "x.toml:2: federation.honest = 90: pairs needs"));
  EXPECT_TRUE(
      starts(error_of(lines({"rule = ['average', 'fltrust']", "[server]", "per_class = 0"})),
             "x.toml:3: rule = fltrust needs server data"));
  EXPECT_TRUE(starts(error_of(lines({"rule = ['average',", "'trmean(f=50)']"})),
                     "x.toml:2: rule = trmean(f=50) cannot be computed"));
  EXPECT_TRUE(starts(error_of(lines({"attack = ['none',", "'mimic(client=100)']"})),
                     "x.toml:2: attack = mimic(client=100): mimic: no honest client 100"));
  EXPECT_TRUE(starts(error_of(lines({"attack = 'ipm'", "[federation]", "byzantine = 4",
                                     "participation = [1,", "0.1]"})),
                     "x.toml:5: federation.participation = 0.1 selects none of 4 Byzantine"));
}

TEST(GridErrors, OverridesNameThemselves) {
  EXPECT_TRUE(
      starts(error_of("", {"training.round=5"}),
             "--set training.round=5: unknown key training.round; did you mean rounds? keys "
             "of [training] are:"));
  EXPECT_TRUE(
      starts(error_of("", {"rounds=5"}), "--set rounds=5: unknown key rounds; it belongs to"));
  EXPECT_EQ(error_of("", {"training=5"}),
            "--set training=5: training is a section; write --set training.KEY=VALUE");
  EXPECT_TRUE(
      starts(error_of("", {"nonsense.x=5"}), "--set nonsense.x=5: unknown section [nonsense]"));
  EXPECT_EQ(error_of("", {"training.rounds=0"}),
            "--set training.rounds=0: training.rounds=0 is outside [1, 1000000]");
  EXPECT_EQ(error_of("", {"training.rounds="}),
            "--set training.rounds=: training.rounds needs a whole number; got the text ''");
  EXPECT_TRUE(starts(error_of("", {"rule=krumm(f=2)"}), "--set rule=krumm(f=2): rule: no rule"));
  EXPECT_TRUE(starts(error_of("", {"rule=[\"average\",\"krumm\"]"}),
                     "--set rule=[\"average\",\"krumm\"]: rule: no rule 'krumm'"));
  EXPECT_TRUE(starts(error_of("", {"rule=[\"average\","}), "--set rule=[\"average\",: "));
  EXPECT_EQ(error_of("", {"seed=[]"}),
            "--set seed=[]: seed is an empty list; a sweep has at least one value");
  // The override is to blame, whatever the file says about the other key.
  EXPECT_TRUE(starts(error_of(lines({"[model]", "kind = 'mlp'"}), {"data.set=ag-news"}),
                     "--set data.set=ag-news: model.kind = mlp reads images"));
}

TEST(GridErrors, ASweepIsAList) {
  EXPECT_EQ(error_of("", {"seed=1,2,3"}),
            "--set seed=1,2,3: seed needs a whole number; got the text '1,2,3'; a sweep is a list: "
            "--set 'seed=[1,2,3]'");
  const std::string rules = error_of("", {"rule=average,krum(f=2)"});
  EXPECT_TRUE(starts(rules, "--set rule=average,krum(f=2): rule: ")) << rules;
  EXPECT_TRUE(rules.ends_with("; a sweep is a list: --set 'rule=[\"...\",\"...\"]'")) << rules;
  // A comma inside brackets is none.
  EXPECT_FALSE(error_of("", {"rule=krum(f=2,g=3)"}).ends_with("]'"));
}

TEST(GridErrors, TooManyRuns) {
  std::string list = "[1";
  for (int i = 2; i <= 200; ++i) list += ", " + std::to_string(i);
  list += "]\n";
  const std::string all = error_of("seed = " + list + "[training]\nrounds = " + list);
  EXPECT_EQ(all,
            "x.toml: 200 seed x 200 training.rounds are more than 20000 runs; use fewer values");
  // The product would not fit in 64 bits.
  std::string sections = "seed = " + list + "[training]\n";
  for (const char* key : {"rounds", "decay_start", "decay_every", "local_steps", "batch"}) {
    sections += std::string(key) + " = " + list;
  }
  sections += "[data]\ntrain = " + list + "test = " + list + "[federation]\nhonest = " + list +
              "byzantine = " + list + "[server]\nper_class = " + list;
  EXPECT_TRUE(starts(error_of(sections), "x.toml: 200 seed x 200"));
}

}  // namespace
}  // namespace boba
