#include "boba/core/aggregator.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "tests/core/toys.h"

namespace boba {
namespace {

using toys::matrix_of;
using toys::WatchedKernels;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An aggregation of float64 rows, and what came of it.
struct Trial {
  WatchedKernels kernels;
  Round round;
  std::vector<double> out;

  explicit Trial(const UpdateMatrix& updates, const UpdateMatrix& server = {}) {
    round.updates = updates.view();
    round.server = server.view();
    out.assign(updates.length(), kNan);
  }
  Result<Verdict> operator()(const Aggregator& rule) {
    return rule.aggregate(kernels, round, MutableRow(std::span<double>(out)));
  }
};

double measure(const std::vector<NamedValue>& measures, const std::string& name) {
  for (const NamedValue& m : measures) {
    if (m.name == name) return m.value;
  }
  ADD_FAILURE() << "no measure " << name;
  return kNan;
}

constexpr Need kNeeds[] = {Need::kNothing, Need::kNorms, Need::kServerProducts, Need::kGram,
                           Need::kServerGram};

TEST(Aggregator, WritesTheWeightedSumAndTheVerdict) {
  const UpdateMatrix updates = matrix_of({{1, 2}, {3, 6}, {5, 4}, {7, 0}});
  const UpdateMatrix server = matrix_of({{1, 1}, {2, 2}});
  for (Need need : kNeeds) {
    Trial trial(updates, server);
    const auto verdict = trial(toys::mean(need));
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(trial.out, (std::vector<double>{4, 3}));
    EXPECT_EQ(verdict->rule, "mean");
    EXPECT_EQ(verdict->updates, 4u);
    EXPECT_EQ(verdict->length, 2u);
    EXPECT_EQ(verdict->classes, 2u);
    EXPECT_EQ(verdict->refused, 0u);
    EXPECT_TRUE(verdict->weighted);
    EXPECT_EQ(verdict->weights, (std::vector<double>{0.25, 0.25, 0.25, 0.25}));
    EXPECT_EQ(verdict->server_weights, (std::vector<double>{0, 0}));
    EXPECT_EQ(verdict->accepted(), 4u);
    ASSERT_EQ(verdict->clients.size(), 4u);
    EXPECT_EQ(verdict->clients[2].index, 2u);
    EXPECT_EQ(verdict->clients[2].weight, 0.25);
    EXPECT_EQ(verdict->clients[2].reason, "one of all");
    EXPECT_FALSE(verdict->clients[2].bucket);
  }
}

TEST(Aggregator, GivesARuleTheProductsItNeeds) {
  const UpdateMatrix updates = matrix_of({{1, 2}, {3, 6}, {5, 4}});
  const UpdateMatrix server = matrix_of({{1, 1}, {3, 5}});
  Trial norms(updates, server);
  auto verdict = norms(toys::mean(Need::kNorms));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(measure(verdict->clients[1].measures, "sq_norm"), 45);

  Trial products(updates, server);
  const std::vector<double> counts = {10, 10};
  products.round.server_counts = counts;
  verdict = products(toys::mean(Need::kServerProducts));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(measure(verdict->clients[2].measures, "dot"), 22);  // s = (2, 3)
  EXPECT_EQ(measure(verdict->clients[2].measures, "server_sq"), 13);

  Trial gram(updates, server);
  verdict = gram(toys::mean(Need::kGram));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(measure(verdict->clients[2].measures, "sq_distance"), 20);
  EXPECT_EQ(measure(verdict->clients[2].measures, "servers"), 0);
  verdict = gram(toys::mean(Need::kServerGram));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(measure(verdict->clients[2].measures, "sq_distance"), 20);
  EXPECT_EQ(measure(verdict->clients[2].measures, "sq_norm"), 41);
  EXPECT_EQ(measure(verdict->clients[2].measures, "servers"), 2);
}

TEST(Aggregator, TheWholeServerGradientTakesThePlaceOfTheMean) {
  const UpdateMatrix updates = matrix_of({{1, 2}, {3, 6}});
  const UpdateMatrix server = matrix_of({{1, 1}, {3, 5}});
  const UpdateMatrix whole = matrix_of({{10, 0}});
  Trial trial(updates, server);
  trial.round.server_whole = whole.view();
  for (const Aggregator& rule :
       {toys::mean(Need::kServerProducts), toys::paired(toys::mean(Need::kServerProducts))}) {
    const auto verdict = trial(rule);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(measure(verdict->clients[0].measures, "server_sq"), 100);
  }
}

TEST(Aggregator, CoordinateRulesHaveNoWeights) {
  const UpdateMatrix updates = matrix_of({{1, 9}, {3, 7}, {8, 5}});
  Trial trial(updates);
  const auto verdict = trial(toys::median());
  ASSERT_TRUE(verdict);
  EXPECT_EQ(trial.out, (std::vector<double>{3, 7}));
  EXPECT_FALSE(verdict->weighted);
  EXPECT_TRUE(verdict->weights.empty());
  EXPECT_FALSE(verdict->clients[0].weight);
  EXPECT_EQ(verdict->clients[0].reason, "ordered");
}

// The hostile rows are gone: output, weights and measures equal those of a round without them.
TEST(Aggregator, RefusedRowsHaveNoInfluence) {
  const UpdateMatrix clean = matrix_of({{1, 2}, {3, 6}, {5, 4}});
  const UpdateMatrix server = matrix_of({{1, 1}, {3, 5}});
  for (double poison : {kNan, kInfinity, -kInfinity, 1e308}) {
    const UpdateMatrix hostile = matrix_of({{1, 2}, {poison, 0}, {3, 6}, {5, 4}, {7, poison}});
    std::vector<Aggregator> rules = {toys::median(), toys::paired(toys::median())};
    for (Need need : kNeeds) {
      rules.push_back(toys::mean(need));
      rules.push_back(toys::paired(toys::mean(need)));
    }
    for (const Aggregator& rule : rules) {
      Trial expected(clean, server);
      Trial trial(hostile, server);
      const auto wanted = expected(rule);
      const auto verdict = trial(rule);
      ASSERT_TRUE(wanted) << wanted.error().message;
      ASSERT_TRUE(verdict) << verdict.error().message;
      EXPECT_EQ(trial.out, expected.out) << rule.spec();
      EXPECT_EQ(verdict->refused, 2u);
      for (std::size_t i : {1u, 4u}) {
        EXPECT_TRUE(verdict->clients[i].refused);
        EXPECT_FALSE(verdict->clients[i].accepted);
        EXPECT_EQ(verdict->clients[i].reason.substr(0, 8), "refused:");
        if (verdict->weighted) {
          EXPECT_EQ(verdict->clients[i].weight, 0);
        }
      }
      const std::size_t kept[] = {0, 2, 3};
      for (std::size_t k = 0; k < 3; ++k) {
        const ClientVerdict& a = verdict->clients[kept[k]];
        const ClientVerdict& b = wanted->clients[k];
        EXPECT_EQ(a.weight, b.weight);
        EXPECT_EQ(a.accepted, b.accepted);
        EXPECT_EQ(a.reason, b.reason);
        ASSERT_EQ(a.measures.size(), b.measures.size());
        for (std::size_t m = 0; m < a.measures.size(); ++m) {
          EXPECT_EQ(a.measures[m].value, b.measures[m].value) << rule.spec();
        }
      }
      if (!verdict->weighted) continue;
      EXPECT_EQ(measure(verdict->measures, "refused"), 2);
    }
  }
}

TEST(Aggregator, ARoundOfRefusedRowsIsAnError) {
  const UpdateMatrix updates = matrix_of({{kNan, 1}, {kInfinity, 2}});
  std::vector<Aggregator> rules = {toys::median()};
  for (Need need : kNeeds) rules.push_back(toys::mean(need));
  const UpdateMatrix server = matrix_of({{1, 1}});
  for (const Aggregator& rule : rules) {
    Trial trial(updates, server);
    const auto verdict = trial(rule);
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().code, ErrorCode::kRefused);
    EXPECT_NE(verdict.error().message.find(
                  "all 2 updates were refused; client 0: refused: it contains NaN or infinity"),
              std::string::npos)
        << verdict.error().message;
  }
}

TEST(Aggregator, TooFewLeftIsAnErrorThatSaysWhy) {
  const UpdateMatrix updates = matrix_of({{1, 1}, {kNan, 2}, {3, 3}});
  for (Need need : {Need::kNothing, Need::kGram}) {
    Trial trial(updates);
    const auto verdict = trial(Aggregator(std::make_shared<toys::MeanRule>(need, 3), "mean"));
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().code, ErrorCode::kRefused);
    EXPECT_EQ(verdict.error().message,
              "mean needs n >= 3; got n=2; 1 updates were refused before (client 1: refused: it "
              "contains NaN or infinity)");
  }
}

TEST(Aggregator, OnlyAClientsFirstUpdateCounts) {
  const UpdateMatrix updates = matrix_of({{1, 2}, {100, 100}, {3, 4}});
  const std::vector<std::string> ids = {"anna", "anna", "ben"};
  Trial trial(updates);
  trial.round.ids = ids;
  const auto verdict = trial(toys::mean());
  ASSERT_TRUE(verdict);
  EXPECT_EQ(trial.out, (std::vector<double>{2, 3}));
  EXPECT_EQ(verdict->refused, 1u);
  EXPECT_TRUE(verdict->clients[1].refused);
  EXPECT_EQ(verdict->clients[1].id, "anna");
  EXPECT_NE(verdict->clients[1].reason.find("'anna'"), std::string::npos);
  // The client is still there, so nobody Byzantine has left.
  EXPECT_EQ(measure(verdict->measures, "refused"), 0);
}

TEST(Aggregator, IdsAreSafeInSentencesAndWholeInTheVerdict) {
  const UpdateMatrix updates = matrix_of({{1, 2}, {100, 100}, {3, 4}});
  const std::vector<std::string> ids = {"a\x1b[2J\nb", "a\x1b[2J\nb", "ben"};
  Trial trial(updates);
  trial.round.ids = ids;
  const auto verdict = trial(toys::mean());
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->clients[1].id, ids[1]);
  EXPECT_NE(verdict->clients[1].reason.find("'a\\x1b[2J\\nb'"), std::string::npos);
  EXPECT_EQ(verdict->clients[1].reason.find('\x1b'), std::string::npos);
}

TEST(Aggregator, MixesRowsBeforeTheRule) {
  const UpdateMatrix updates = matrix_of({{0, 8}, {2, 0}, {6, 4}, {8, 8}, {100, 100}});
  for (Need need : kNeeds) {
    const UpdateMatrix server = matrix_of({{1, 0}});
    Trial trial(updates, server);
    const auto verdict = trial(toys::paired(toys::mean(need)));
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(verdict->rule, "pairs | mean");
    EXPECT_EQ(trial.out, (std::vector<double>{4, 5}));
    EXPECT_EQ(verdict->weights, (std::vector<double>{0.25, 0.25, 0.25, 0.25, 0}));
    EXPECT_EQ(verdict->clients[1].bucket, 0u);
    EXPECT_EQ(verdict->clients[2].bucket, 1u);
    EXPECT_EQ(verdict->clients[2].reason, "bucket 1: one of all");
    EXPECT_FALSE(verdict->clients[4].bucket);
    EXPECT_FALSE(verdict->clients[4].accepted);
    EXPECT_EQ(verdict->clients[4].reason, "has no partner");
    EXPECT_EQ(measure(verdict->measures, "clients"), 2);
    if (need == Need::kNothing) continue;
    EXPECT_EQ(measure(verdict->clients[3].measures, "sq_norm"), 85);  // |(7, 6)|^2
  }
}

TEST(Aggregator, MixesRowsBeforeACoordinateRule) {
  const UpdateMatrix updates = matrix_of({{0, 8}, {2, 0}, {6, 4}, {8, 8}, {1, 1}, {3, 3}});
  Trial trial(updates);
  const auto verdict = trial(toys::paired(toys::median()));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(trial.out, (std::vector<double>{2, 4}));  // of (1, 4), (7, 6), (2, 2)
}

TEST(Aggregator, StagesRunInTheOrderWritten) {
  const UpdateMatrix updates = matrix_of({{0}, {4}, {8}, {12}, {16}, {20}});
  Trial trial(updates);
  // Pairs 2, 10, 18; pairs of these 6; the last pair is left out.
  const auto verdict = trial(toys::paired(toys::paired(toys::mean(Need::kGram))));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->rule, "pairs | pairs | mean");
  EXPECT_EQ(trial.out, (std::vector<double>{6}));
  EXPECT_EQ(verdict->weights, (std::vector<double>{0.25, 0.25, 0.25, 0.25, 0, 0}));
  EXPECT_EQ(verdict->clients[5].reason, "has no partner");
}

TEST(Aggregator, BlendsAfterTheRule) {
  const UpdateMatrix updates = matrix_of({{0, 4}, {8, 4}, {4, 4}});
  const UpdateMatrix server = matrix_of({{0, 0}, {8, 16}});
  for (const Aggregator& rule : {toys::mean(), toys::mean(Need::kServerGram), toys::median()}) {
    Trial trial(updates, server);
    const auto verdict = trial(toys::shared(rule, 0.25));
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(verdict->rule, rule.spec() + " | share");
    EXPECT_DOUBLE_EQ(trial.out[0], 4);
    EXPECT_DOUBLE_EQ(trial.out[1], 5);
    EXPECT_EQ(verdict->server_weights, (std::vector<double>{0.125, 0.125}));
  }
  Trial without(updates);
  const auto verdict = without(toys::shared(toys::mean(), 0.25));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().message, "the blend needs server rows");
}

TEST(Aggregator, IsAValueAndCanBeRenamed) {
  const Aggregator plain = toys::mean();
  const Aggregator composed = toys::shared(toys::paired(plain), 0.5);
  EXPECT_EQ(plain.spec(), "mean");
  EXPECT_EQ(composed.spec(), "pairs | mean | share");
  EXPECT_EQ(composed.renamed("p-mean").spec(), "p-mean");
}

TEST(Aggregator, ABadServerRowIsAnError) {
  const UpdateMatrix updates = matrix_of({{1, 2}, {3, 4}});
  for (double poison : {kNan, kInfinity}) {
    const UpdateMatrix server = matrix_of({{1, 1}, {poison, 0}});
    for (const Aggregator& rule :
         {toys::mean(Need::kServerGram), toys::mean(Need::kServerProducts),
          toys::shared(toys::mean(), 0.5), toys::shared(toys::median(), 0.5)}) {
      Trial trial(updates, server);
      const auto verdict = trial(rule);
      ASSERT_FALSE(verdict) << rule.spec();
      EXPECT_EQ(verdict.error().code, ErrorCode::kInvalidArgument);
      EXPECT_NE(verdict.error().message.find("server gradient 1"), std::string::npos)
          << verdict.error().message;
    }
  }
}

TEST(Aggregator, TheOutputMustFitAndStandAlone) {
  UpdateMatrix updates = matrix_of({{1, 2}, {3, 4}});
  WatchedKernels kernels;
  Round round;
  round.updates = updates.view();
  std::vector<double> longer(3);
  auto verdict = toys::mean().aggregate(kernels, round, MutableRow(std::span<double>(longer)));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().message,
            "the output is float64 of length 3, the updates are float64 of length 2; both must be "
            "alike");
  std::vector<float> narrower(2);
  verdict = toys::mean().aggregate(kernels, round, MutableRow(std::span<float>(narrower)));
  EXPECT_FALSE(verdict);
  verdict = toys::mean().aggregate(kernels, round, updates.row(1));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().message, "the output overlaps an input; it needs memory of its own");
  EXPECT_EQ(kernels.total(), 0u);
}

TEST(Aggregator, NeverWritesToItsInputs) {
  UpdateMatrix updates = matrix_of({{1, kNan}, {3, 4}, {5, 6}, {7, 8}});
  UpdateMatrix server = matrix_of({{1, 1}});
  for (Need need : kNeeds) {
    Trial trial(updates, server);
    ASSERT_TRUE(trial(toys::shared(toys::paired(toys::mean(need)), 0.5)));
  }
  EXPECT_EQ(updates.row_as<double>(0)[0], 1);
  EXPECT_EQ(updates.row_as<double>(3)[1], 8);
  EXPECT_EQ(server.row_as<double>(0)[0], 1);
}

TEST(Aggregator, AResultThatOverflowsIsAnError) {
  const UpdateMatrix updates = matrix_of({{3e38}, {3e38}}, DType::kFloat32);
  WatchedKernels kernels;
  Round round;
  round.updates = updates.view();
  std::vector<float> out(1);
  const Aggregator twice(std::make_shared<toys::MeanRule>(Need::kNothing, 1, 2.0), "twice");
  const auto verdict = twice.aggregate(kernels, round, MutableRow(std::span<float>(out)));
  ASSERT_FALSE(verdict);
  EXPECT_NE(verdict.error().message.find("overflows float32"), std::string::npos)
      << verdict.error().message;
}

TEST(Aggregator, CheapRulesMakeOnePassUnlessARowIsRefused) {
  const UpdateMatrix clean = matrix_of({{1, 2}, {3, 4}, {5, 6}});
  const UpdateMatrix hostile = matrix_of({{1, 2}, {kNan, 4}, {5, 6}});
  Trial good(clean);
  ASSERT_TRUE(good(toys::mean()));
  EXPECT_EQ(good.kernels.total(), 1u);
  EXPECT_EQ(good.kernels.calls("combine").size(), 1u);
  Trial bad(hostile);
  ASSERT_TRUE(bad(toys::mean()));
  EXPECT_EQ(bad.kernels.total(), 2u);
  ASSERT_EQ(bad.kernels.calls("combine").size(), 2u);
  EXPECT_EQ(bad.kernels.calls("combine")[1].rows, 2u);
  Trial ordered(clean);
  ASSERT_TRUE(ordered(toys::median()));
  EXPECT_EQ(ordered.kernels.total(), 1u);
}

TEST(Aggregator, TheServersMeanIsTheOrigin) {
  const UpdateMatrix updates = matrix_of({{1, 2}, {3, 4}});
  const UpdateMatrix server = matrix_of({{1, 1}, {3, 5}});
  Trial trial(updates, server);
  ASSERT_TRUE(trial(toys::mean(Need::kServerGram)));
  const auto passes = trial.kernels.calls("gram");
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_EQ(passes[0].rows, 4u);
  EXPECT_EQ(passes[0].origin, (std::vector<double>{0, 0, 0.5, 0.5}));
}

TEST(Aggregator, ACommonComponentMovesTheOriginToTheMedian) {
  const UpdateMatrix updates = matrix_of({{1000, 0}, {1001, 0}, {1002, 0}, {1002, 3}, {1010, 0}});
  Trial trial(updates);
  const auto verdict = trial(toys::mean(Need::kGram));
  ASSERT_TRUE(verdict);
  const auto passes = trial.kernels.calls("gram");
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_TRUE(passes[0].origin.empty());
  EXPECT_EQ(trial.kernels.calls("order_mean").size(), 1u);
  const auto again = trial.kernels.calls("gram in double");
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].origin, (std::vector<double>{0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(measure(verdict->clients[4].measures, "sq_distance"), 100);
}

TEST(Aggregator, UpdatesOfMixedSignsNeedOneGramPass) {
  const UpdateMatrix updates = matrix_of({{1, 0}, {-1, 0}, {0, 1}, {0, -1}});
  Trial trial(updates);
  ASSERT_TRUE(trial(toys::mean(Need::kGram)));
  EXPECT_EQ(trial.kernels.calls("gram").size(), 1u);
}

TEST(Aggregator, LongRowsChooseTheOriginByAWindow) {
  constexpr std::size_t kLength = 10000;
  UpdateMatrix updates(DType::kFloat64, 5, kLength);
  for (std::size_t i = 0; i < 5; ++i) {
    for (double& x : updates.row_as<double>(i)) x = 100 + static_cast<double>(i);
  }
  updates.row_as<double>(0)[kLength / 2] = kNan;
  Trial trial(updates);
  const auto verdict = trial(toys::mean(Need::kGram));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_TRUE(verdict->clients[0].refused);
  const auto passes = trial.kernels.calls("gram");
  // The refused row had no part in the choice: the window without it leads to the same.
  ASSERT_EQ(passes.size(), 3u);
  EXPECT_LT(passes[0].length, kLength);
  EXPECT_EQ(passes[1].length, kLength);
  EXPECT_LT(passes[2].length, kLength);
  EXPECT_EQ(passes[2].rows, 4u);
  ASSERT_EQ(passes[1].origin.size(), 5u);
  EXPECT_EQ(passes[1].origin[0], 0);
}

TEST(Aggregator, MayBeUsedFromSeveralThreads) {
  const UpdateMatrix updates = matrix_of({{1, 2}, {kNan, 6}, {5, 4}, {3, 3}});
  const UpdateMatrix server = matrix_of({{1, 1}});
  const Aggregator rule = toys::shared(toys::paired(toys::mean(Need::kServerGram)), 0.5);
  const auto kernels = make_reference_kernels();
  std::vector<std::vector<double>> outs(4, std::vector<double>(2));
  std::vector<std::thread> threads;
  for (auto& out : outs) {
    threads.emplace_back([&] {
      Round round;
      round.updates = updates.view();
      round.server = server.view();
      EXPECT_TRUE(rule.aggregate(*kernels, round, MutableRow(std::span<double>(out))));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& out : outs) EXPECT_EQ(out, outs[0]);
}

}  // namespace
}  // namespace boba
