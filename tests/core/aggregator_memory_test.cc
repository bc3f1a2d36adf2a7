// How a round meets the memory: what the rule recalls, what is remembered, and when nothing is.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/core/memory.h"
#include "tests/core/toys.h"

namespace boba {
namespace {

using toys::matrix_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The mean. It remembers how often a client came before, and of which size it was; a round in which
// it was refused counts 100.
class Rememberer : public Rule {
 public:
  explicit Rememberer(double factor = 1) : factor_(factor) {}

  Need need() const override { return Need::kNorms; }
  std::size_t memory_width(const Shape& shape) const override { return 2 + shape.classes; }
  std::vector<double> after_refusal(std::span<const double> state,
                                    const Shape& shape) const override {
    std::vector<double> next(memory_width(shape), 0.0);
    if (!state.empty()) next.assign(state.begin(), state.end());
    next[0] += 100;
    return next;
  }
  Result<void> admits(const Shape&) const override { return {}; }
  std::optional<int> tolerance() const override { return 1; }

  Result<Decision> decide(RowSpace& rows) const override {
    const std::size_t n = rows.shape().clients;
    Decision decision;
    decision.rows.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      RowDecision& row = decision.rows[i];
      row.weight = factor_ / static_cast<double>(n);
      row.reason = "one of all";
      if (rows.past() == nullptr) continue;
      const Past::Client& past = rows.past()->rows[i];
      row.measures = {{"seen", static_cast<double>(past.seen)},
                      {"count", past.state.empty() ? -1 : past.state[0]},
                      {"size", past.state.empty() ? -1 : past.state[1]}};
      row.state.assign(memory_width(rows.shape()), 0.0);
      row.state[0] = (past.state.empty() ? 0 : past.state[0]) + 1;
      row.state[1] = rows.sq_norms()[i];
    }
    return decision;
  }

 private:
  double factor_;
};

// Has a memory and says nothing of refused clients.
class Silent final : public Rememberer {
 public:
  std::vector<double> after_refusal(std::span<const double> state, const Shape&) const override {
    return Rule::after_refusal(state, {});
  }
};

// Decides nothing.
class Failing final : public Rememberer {
 public:
  Result<Decision> decide(RowSpace&) const override { return invalid_argument("no decision"); }
};

Aggregator rememberer(double factor = 1) {
  return {std::make_shared<Rememberer>(factor), "rememberer"};
}

// A round of rows with ids and what came of it.
struct Trial {
  std::vector<std::vector<double>> rows;
  std::vector<std::string> ids = {};
  std::vector<Refusal> refused = {};
  std::vector<std::vector<double>> server = {};

  Result<Verdict> operator()(const Aggregator& rule, Memory* memory) const {
    const UpdateMatrix updates = matrix_of(rows);
    const UpdateMatrix gradients = matrix_of(server);
    Round round;
    round.updates = updates.view();
    round.ids = ids;
    round.refused = refused;
    round.server = gradients.view();
    std::vector<double> out(updates.length());
    return rule.aggregate(*make_reference_kernels(), round, MutableRow(std::span<double>(out)),
                          memory);
  }
};

std::vector<double> recalled(const ClientVerdict& client) {
  std::vector<double> values;
  for (const NamedValue& measure : client.measures) values.push_back(measure.value);
  return values;
}

std::vector<double> state_of(const Memory& memory, std::string_view id) {
  const Memory::Client* client = memory.find(id);
  return client == nullptr ? std::vector<double>{} : client->state;
}

TEST(AggregatorMemory, ARuleRecallsWhatItLeft) {
  Memory memory;
  const Aggregator rule = rememberer();
  EXPECT_TRUE(rule.uses_memory());
  Result<Verdict> verdict = Trial{{{1}, {2}}, {"a", "b"}}(rule, &memory);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(recalled(verdict->clients[0]), (std::vector<double>{0, -1, -1}));
  // Rows are in another order, and a new client comes between.
  verdict = Trial{{{2}, {3}, {1}}, {"b", "new", "a"}}(rule, &memory);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(recalled(verdict->clients[0]), (std::vector<double>{1, 1, 4}));
  EXPECT_EQ(recalled(verdict->clients[1]), (std::vector<double>{0, -1, -1}));
  EXPECT_EQ(recalled(verdict->clients[2]), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(memory.rule(), "rememberer");
  EXPECT_EQ(memory.rounds(), 2U);
  EXPECT_EQ(memory.width(), 2U);
  EXPECT_EQ(state_of(memory, "a"), (std::vector<double>{2, 1}));
}

TEST(AggregatorMemory, WithoutOneARuleRecallsNothing) {
  const Result<Verdict> verdict = Trial{{{1}, {2}}, {"a", "b"}}(rememberer(), nullptr);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->clients[0].measures.empty());
  EXPECT_TRUE(verdict->notes.empty());
}

TEST(AggregatorMemory, AClientThatDoesNotComeKeepsItsState) {
  Memory memory;
  ASSERT_TRUE((Trial{{{1}, {2}}, {"a", "b"}}(rememberer(), &memory)));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE((Trial{{{1}}, {"a"}}(rememberer(), &memory)));
  ASSERT_NE(memory.find("b"), nullptr);
  EXPECT_EQ(memory.find("b")->seen, 1U);
  EXPECT_EQ(memory.find("b")->last, 1U);
  EXPECT_EQ(state_of(memory, "b"), (std::vector<double>{1, 4}));
  EXPECT_EQ(memory.find("a")->seen, 6U);
  const Result<Verdict> verdict = Trial{{{3}}, {"b"}}(rememberer(), &memory);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(recalled(verdict->clients[0]), (std::vector<double>{1, 1, 4}));
}

TEST(AggregatorMemory, RefusedClientsAreRememberedAsRefused) {
  Memory memory;
  ASSERT_TRUE((Trial{{{1}, {2}, {3}}, {"a", "b", "c"}}(rememberer(), &memory)));
  // Two are refused for their numbers, one was on arrival; a is refused for the first time.
  const Trial trial{.rows = {{1}, {kNan}, {3}, {kInfinity}, {4}},
                    .ids = {"a", "b", "c", "new", "d"},
                    .refused = {{2, "refused: too late"}}};
  const Result<Verdict> verdict = trial(rememberer(), &memory);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->refused, 3U);
  EXPECT_EQ(state_of(memory, "a"), (std::vector<double>{2, 1}));
  EXPECT_EQ(state_of(memory, "b"), (std::vector<double>{101, 4}));
  EXPECT_EQ(state_of(memory, "c"), (std::vector<double>{101, 9}));
  EXPECT_EQ(state_of(memory, "new"), (std::vector<double>{100, 0}));
  EXPECT_EQ(state_of(memory, "d"), (std::vector<double>{1, 16}));
  EXPECT_EQ(memory.find("b")->seen, 2U);
  EXPECT_EQ(memory.find("new")->seen, 1U);
}

TEST(AggregatorMemory, RowsFarOutAreRememberedAsRefused) {
  Memory memory;
  const Result<Verdict> verdict =
      Trial{{{1}, {2}, {3}, {1e30}}, {"a", "b", "c", "far"}}(rememberer(), &memory);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->clients[3].refused);
  EXPECT_EQ(state_of(memory, "far"), (std::vector<double>{100, 0}));
  EXPECT_EQ(state_of(memory, "a"), (std::vector<double>{1, 1}));
}

// What a rule has nothing to say about is not remembered, so that the bytes can be loaded again.
TEST(AggregatorMemory, ANewClientWithoutAStateIsNotRemembered) {
  Memory memory;
  const Aggregator rule(std::make_shared<Silent>(), "silent");
  ASSERT_TRUE((Trial{{{1}, {2}, {kNan}}, {"a", "b", "bad"}}(rule, &memory)));
  EXPECT_EQ(memory.find("bad"), nullptr);
  ASSERT_TRUE((Trial{{{1}, {2}, {kNan}}, {"c", "b", "a"}}(rule, &memory)));
  EXPECT_EQ(state_of(memory, "a"), (std::vector<double>{1, 1}));
  const Result<Memory> again = Memory::load(memory.save());
  EXPECT_TRUE(again) << again.error().message;
}

TEST(AggregatorMemory, OfARepeatedIdTheFirstRowIsRemembered) {
  Memory memory;
  ASSERT_TRUE((Trial{{{1}, {2}, {5}}, {"a", "b", "a"}}(rememberer(), &memory)));
  EXPECT_EQ(state_of(memory, "a"), (std::vector<double>{1, 1}));
  EXPECT_EQ(memory.clients(), 2U);
  // The first is refused, and the second is no second chance.
  ASSERT_TRUE((Trial{{{kNan}, {2}, {5}}, {"a", "b", "a"}}(rememberer(), &memory)));
  EXPECT_EQ(state_of(memory, "a"), (std::vector<double>{101, 1}));
  EXPECT_EQ(memory.find("a")->seen, 2U);
  // Refused on arrival, and a repetition.
  const Trial both{
      .rows = {{1}, {2}, {5}}, .ids = {"a", "b", "a"}, .refused = {{2, "refused: twice"}}};
  ASSERT_TRUE(both(rememberer(), &memory));
  EXPECT_EQ(state_of(memory, "a"), (std::vector<double>{102, 1}));
  EXPECT_EQ(memory.find("a")->seen, 3U);
}

TEST(AggregatorMemory, ClientsWithoutAnIdAreNotRemembered) {
  Memory memory;
  Result<Verdict> verdict = Trial{{{1}, {2}}}(rememberer(), &memory);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->notes,
            std::vector<std::string>{"the updates have no ids, so the memory remembers no client"});
  EXPECT_EQ(memory.clients(), 0U);
  EXPECT_EQ(memory.rounds(), 1U);
  verdict = Trial{{{1}, {2}, {3}, {kNan}}, {"", "b", "", ""}}(rememberer(), &memory);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->notes.empty());
  EXPECT_EQ(memory.clients(), 1U);
  verdict = Trial{{{1}, {2}}, {"", "b"}}(rememberer(), &memory);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(recalled(verdict->clients[0]), (std::vector<double>{0, -1, -1}));
  EXPECT_EQ(recalled(verdict->clients[1]), (std::vector<double>{1, 1, 4}));
}

TEST(AggregatorMemory, ARoundThatFailsLeavesItAsItWas) {
  Memory memory;
  ASSERT_TRUE((Trial{{{1}, {2}}, {"a", "b"}}(rememberer(), &memory)));
  const std::string before = memory.save();
  const auto fails = [&](const Trial& trial, const Aggregator& rule) {
    const Result<Verdict> verdict = trial(rule, &memory);
    EXPECT_FALSE(verdict);
    EXPECT_EQ(memory.save(), before);
    return verdict ? std::string() : verdict.error().message;
  };
  fails({{{kNan}, {kNan}}, {"a", "b"}}, rememberer());  // all are refused
  fails({{{1}, {2}}, {"a"}}, rememberer());             // an id too few
  fails({{{1e10}, {1e10}}, {"a", "b"}}, rememberer(1e300));
  EXPECT_EQ(fails({{{1}, {2}}, {"a", "b"}}, {std::make_shared<Failing>(), "rememberer"}),
            "no decision");
  // The memory of another rule, and one of other classes.
  EXPECT_EQ(fails({{{1}, {2}}, {"a", "b"}}, rememberer().renamed("another")),
            "the memory belongs to the rule rememberer, not to another; use one memory per rule");
  EXPECT_EQ(fails({.rows = {{1}, {2}}, .ids = {"a", "b"}, .server = {{1}, {2}}}, rememberer()),
            "the memory has 2 numbers per client, and this round needs 4: the number of classes "
            "has changed; begin with a new memory");
}

TEST(AggregatorMemory, RulesThatUseNoneLeaveItAlone) {
  for (const Aggregator& rule :
       {toys::mean(Need::kGram), toys::median(), toys::paired(rememberer())}) {
    EXPECT_FALSE(rule.uses_memory()) << rule.spec();
    Memory memory;
    ASSERT_TRUE((Trial{{{1}, {2}, {3}}, {"a", "b", "c"}}(rule, &memory))) << rule.spec();
    EXPECT_EQ(memory.rule(), "");
    EXPECT_EQ(memory.rounds(), 0U);
  }
  // A blend after the rule is no matter.
  EXPECT_TRUE(toys::shared(rememberer(), 0.5).uses_memory());
}

TEST(AggregatorMemory, TheSameRoundsMakeEqualBytes) {
  Memory one;
  Memory other;
  for (int round = 0; round < 5; ++round) {
    const Trial trial{{{1.0 * round}, {2}, {kNan}}, {"a", "b", "bad"}};
    ASSERT_TRUE(trial(rememberer(), &one));
    ASSERT_TRUE(trial(rememberer(), &other));
    // Saved and loaded between the rounds.
    Result<Memory> loaded = Memory::load(other.save());
    ASSERT_TRUE(loaded) << loaded.error().message;
    other = *std::move(loaded);
  }
  EXPECT_EQ(one.save(), other.save());
}

}  // namespace
}  // namespace boba
