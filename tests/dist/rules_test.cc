// Rules on ranks: result and verdict are those of one process, to the bit, whatever is sent.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/core/random.h"
#include "boba/core/sketch.h"
#include "boba/dist/sharded.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/sketch/sketch.h"
#include "boba/rules/registry.h"
#include "tests/support/dist_team.h"
#include "tests/support/rules_cases.h"

namespace boba::test {
namespace {

constexpr std::size_t kClasses = 4;

// Mixtures of two classes with noise, about a component that all share; f updates point elsewhere.
template <Element T>
struct Sent {
  Sent(std::size_t n, std::size_t length, double common)
      : updates(kDType<T>, n, length), server(kDType<T>, kClasses, length) {
    const auto noise = [](std::uint32_t stream, std::size_t k) {
      return normal_at({11, 0, stream, Purpose::kSynthetic}, k);
    };
    for (std::size_t k = 0; k < length; ++k) {
      const double shared = common * noise(999, k);
      double gradients[kClasses];
      for (std::uint32_t z = 0; z < kClasses; ++z) {
        gradients[z] = shared + (1 + z) * noise(z, k);
        server.row_as<T>(z)[k] = static_cast<T>(gradients[z]);
      }
      for (std::uint32_t i = 0; i < n; ++i) {
        const double mixed =
            0.7 * gradients[i % kClasses] + 0.3 * gradients[(i / 2 + 1) % kClasses];
        const double sent = i + 3 < n ? mixed + 0.1 * noise(100 + i, k) : shared - 5 * mixed;
        updates.row_as<T>(i)[k] = static_cast<T>(sent);
      }
    }
  }

  UpdateMatrix updates;
  UpdateMatrix server;
};

// Everything a verdict says.
std::string told(const Verdict& v) {
  std::string text = fmt::format("{} {} {} {} {} {}\n", v.rule, v.updates, v.length, v.classes,
                                 v.refused, v.sketch);
  for (const double weight : v.weights) text += fmt::format("{:a} ", weight);
  for (const double weight : v.server_weights) text += fmt::format("{:a} ", weight);
  for (const auto& measure : v.measures)
    text += fmt::format("{}={:a} ", measure.name, measure.value);
  for (const ClientVerdict& client : v.clients) {
    text +=
        fmt::format("\n{} {} {} {} ", client.index, client.accepted, client.refused, client.reason);
    for (const auto& measure : client.measures) {
      text += fmt::format("{}={:a} ", measure.name, measure.value);
    }
    for (const double share : client.label_mix) text += fmt::format("{:a} ", share);
  }
  return text + fmt::format("\n{}\n{}", fmt::join(v.warnings, "; "), fmt::join(v.notes, "; "));
}

struct Answer {
  std::string told;  // the verdict, or the error
  std::vector<double> out;
};

template <Element T>
struct Question {
  const Sent<T>& sent;
  std::string spec;
  std::size_t sketch = 0;  // length; 0: exact products

  // Shard: the columns that the kernels work on.
  Answer ask(const Kernels& plain, const Shard& shard) const {
    const RowList updates = RowList(sent.updates.view()).columns(shard.first, shard.length);
    const RowList server = RowList(sent.server.view()).columns(shard.first, shard.length);
    Round round;
    round.updates = updates.view();
    round.server = server.view();
    round.seed = 3;
    std::unique_ptr<const Kernels> sketched;
    if (sketch > 0) {
      sketched = *make_sketch_kernels(plain, {.seed = 9, .round = 1, .length = sketch});
    }
    std::vector<T> out(shard.length);
    const auto verdict = make_aggregator(spec)->aggregate(sketched ? *sketched : plain, round,
                                                          MutableRow(std::span(out)));
    if (!verdict) return {verdict.error().message, {}};
    return {told(*verdict), {out.begin(), out.end()}};
  }
};

// Whether there was a result at all, or an error, the same for all.
template <Element T>
bool expect_the_same(const Question<T>& question) {
  const std::size_t length = question.sent.updates.length();
  const auto plain = make_cpu_kernels({.threads = 2});
  const Answer expected = question.ask(*plain, {0, length});
  for (const int ranks : {2, 3, 4}) {
    SCOPED_TRACE(fmt::format("{}, {} ranks", question.spec, ranks));
    std::vector<double> out(expected.out.size());
    run_ranks(ranks_in_use(length, ranks), [&](const Communicator& team) {
      const auto kernels = make_sharded_kernels(team, length, {.threads = 1});
      const Shard shard = shard_of(length, team.rank(), team.size());
      const Answer answer = question.ask(*kernels, shard);
      EXPECT_EQ(answer.told, expected.told);
      ASSERT_EQ(answer.out.empty(), expected.out.empty());
      std::copy(answer.out.begin(), answer.out.end(),
                out.begin() + static_cast<std::ptrdiff_t>(answer.out.empty() ? 0 : shard.first));
    });
    EXPECT_EQ(out, expected.out);
  }
  return !expected.out.empty();
}

// Rules that ask for the loss at a point have no answer: whole points are nowhere in a job of
// several ranks.
std::vector<std::string> specs(bool with_oracle = false) {
  std::vector<std::string> list;
  for (const RuleCase& rule : rule_cases()) {
    if (rule.needs_oracle == with_oracle) list.push_back(rule.spec(3));
  }
  return list;
}

template <Element T>
void check_all(double common) {
  const Sent<T> sent(21, 10007, common);
  for (const std::string& spec : specs()) EXPECT_TRUE(expect_the_same(Question<T>{sent, spec}));
}

TEST(RulesOnRanks, EveryRuleSaysTheSameInFloat32) { check_all<float>(0.5); }
TEST(RulesOnRanks, EveryRuleSaysTheSameInFloat64) { check_all<double>(0.5); }

// An origin is chosen from the middle of the whole rows, and may be chosen again.
TEST(RulesOnRanks, AlsoFarFromTheOrigin) { check_all<float>(300); }

TEST(RulesOnRanks, AlsoWithSketches) {
  const Sent<float> sent(21, 10007, 20);
  for (const char* spec : {"krum(f=3)", "boba(f=3)", "geomed"}) {
    EXPECT_TRUE(expect_the_same(Question<float>{sent, spec, 1024}));
    EXPECT_TRUE(expect_the_same(Question<float>{sent, spec, 16384}));
  }
}

TEST(RulesOnRanks, AlsoForRowsOfOneChunk) {
  const Sent<double> sent(12, 5, 1);
  for (const char* spec : {"average", "krum(f=3)", "coomed", "boba(f=3)"}) {
    EXPECT_TRUE(expect_the_same(Question<double>{sent, spec}));
  }
}

TEST(RulesOnRanks, HostileRowsAreRefusedWhereverTheirNumbersLie) {
  Sent<float> sent(23, 9001, 0.5);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  sent.updates.row_as<float>(1)[0] = nan;
  sent.updates.row_as<float>(2)[9000] = -std::numeric_limits<float>::infinity();
  for (float& x : sent.updates.row_as<float>(4)) x = 3e38F;
  for (const std::string& spec : specs()) EXPECT_TRUE(expect_the_same(Question<float>{sent, spec}));
  const auto plain = make_cpu_kernels();
  const Answer answer = Question<float>{sent, "boba(f=3)"}.ask(*plain, {0, 9001});
  EXPECT_NE(answer.told.find("\n1 false true refused: it contains NaN"), std::string::npos);
  EXPECT_NE(answer.told.find("\n4 false true refused: its norm"), std::string::npos);
}

TEST(RulesOnRanks, ClientsFarOutAreRefusedWhereverTheirNumbersLie) {
  Sent<float> sent(23, 9001, 0.5);
  sent.updates.row_as<float>(0)[0] = 1e36F;
  sent.updates.row_as<float>(5)[4444] = 3e38F;
  for (const std::string& spec : specs()) EXPECT_TRUE(expect_the_same(Question<float>{sent, spec}));
  const Answer answer = Question<float>{sent, "boba(f=3)"}.ask(*make_cpu_kernels(), {0, 9001});
  EXPECT_NE(answer.told.find("\n5 false true refused: its distance"), std::string::npos);
}

TEST(RulesOnRanks, RulesWithAnOracleSayWhatTheyLack) {
  const Sent<float> sent(21, 10007, 0.5);
  for (const std::string& spec : specs(true)) {
    EXPECT_FALSE(expect_the_same(Question<float>{sent, spec})) << spec;
    const Answer answer = Question<float>{sent, spec}.ask(*make_cpu_kernels(), {0, 10007});
    EXPECT_NE(answer.told.find("oracle"), std::string::npos) << answer.told;
  }
}

TEST(RulesOnRanks, ErrorsAreTheSameToo) {
  Sent<float> sent(5, 9001, 0.5);
  EXPECT_FALSE(expect_the_same(Question<float>{sent, "krum(f=3)"}));
  sent.server.row_as<float>(2)[8999] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(expect_the_same(Question<float>{sent, "boba(f=1)"}));
  EXPECT_FALSE(expect_the_same(Question<float>{sent, "fltrust"}));
  for (std::size_t i = 0; i < 5; ++i) {
    sent.updates.row_as<float>(i)[2500] = std::numeric_limits<float>::quiet_NaN();
  }
  EXPECT_FALSE(expect_the_same(Question<float>{sent, "average"}));
}

TEST(RulesOnRanks, ManyClients) {
  const Sent<float> sent(540, 6200, 0.5);
  for (const char* spec : {"krum(f=9)", "boba(f=9)"})
    EXPECT_TRUE(expect_the_same(Question<float>{sent, spec}));
}

}  // namespace
}  // namespace boba::test
