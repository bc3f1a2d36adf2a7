// Open rounds whose rule remembers: the same as plain rounds with the same ids, and only once.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <thread>

#include "boba/core/memory.h"
#include "boba/core/open_round.h"
#include "tests/core/toys.h"

namespace boba {
namespace {

constexpr std::size_t kLength = 3;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Weighs a client by 1 + the weight that it has had so far. State: that weight, and refusals.
class LoyalRule final : public Rule {
 public:
  Need need() const override { return Need::kGram; }
  std::size_t memory_width(const Shape&) const override { return 2; }
  std::vector<double> after_refusal(std::span<const double> state, const Shape&) const override {
    return {state.empty() ? 0 : state[0], state.empty() ? 1 : state[1] + 1};
  }
  Result<void> admits(const Shape&) const override { return {}; }
  Result<Decision> decide(RowSpace& rows) const override {
    Decision decision;
    decision.rows.resize(rows.shape().clients);
    double sum = 0;
    for (std::size_t i = 0; i < decision.rows.size(); ++i) {
      RowDecision& row = decision.rows[i];
      row.weight = 1 + state(rows, i)[0];
      sum += row.weight;
    }
    for (std::size_t i = 0; i < decision.rows.size(); ++i) {
      RowDecision& row = decision.rows[i];
      row.weight /= sum;
      row.measures = {{"refusals", state(rows, i)[1]}};
      row.state = {state(rows, i)[0] + row.weight, state(rows, i)[1]};
    }
    return decision;
  }

 private:
  static std::array<double, 2> state(const RowSpace& rows, std::size_t i) {
    if (rows.past() == nullptr || rows.past()->rows[i].state.empty()) return {0, 0};
    return {rows.past()->rows[i].state[0], rows.past()->rows[i].state[1]};
  }
};

Aggregator loyal() { return {std::make_shared<LoyalRule>(), "loyal"}; }

struct Sent {
  std::string id;
  float value;  // of each coordinate
};

UpdateMatrix update(float value) {
  UpdateMatrix matrix(DType::kFloat32, 1, kLength);
  for (float& number : matrix.row_as<float>(0)) number = value;
  return matrix;
}

class OpenRoundRemembers : public testing::Test {
 protected:
  OpenRound filled(const std::vector<Sent>& sent, OpenRoundOptions options,
                   const Aggregator& rule = loyal()) {
    options.length = kLength;
    Result<OpenRound> round = OpenRound::open(*kernels_, rule, std::move(options));
    EXPECT_TRUE(round) << (round ? "" : round.error().message);
    for (const Sent& one : sent) (void)round->submit(one.id, update(one.value).view());
    return *std::move(round);
  }

  // The weights, and what the memory then is.
  std::vector<double> plain(const std::vector<Sent>& sent, Memory& memory) {
    std::vector<std::string> ids;
    UpdateMatrix rows(DType::kFloat32, sent.size(), kLength);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      ids.push_back(sent[i].id);
      for (float& number : rows.row_as<float>(i)) number = sent[i].value;
    }
    const Result<Verdict> verdict =
        loyal().aggregate(*kernels_, {.updates = rows.view(), .ids = ids}, out_.row(0), &memory);
    EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().message);
    return verdict->weights;
  }

  Verdict close(OpenRound& round, Memory* memory) {
    Result<Verdict> verdict = round.close(0, out_.row(0), memory);
    EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().message);
    return *std::move(verdict);
  }
  float result() const { return out_.view().row<float>(0)[0]; }

  std::unique_ptr<const Kernels> kernels_ = make_reference_kernels();
  UpdateMatrix out_{DType::kFloat32, 1, kLength};
};

TEST_F(OpenRoundRemembers, WhatAPlainRoundDoes) {
  const std::vector<std::vector<Sent>> rounds = {
      {{"c", 1}, {"a", 2}, {"evil", kNaN}, {"b", 3}},
      {{"c", 5}, {"a", 4}, {"evil", 1}},  // b does not come
      {{"c", 2}, {"a", kNaN}, {"evil", 7}, {"b", 1}},
      {{"c", 1}, {"a", 2}, {"evil", 4}, {"b", 8}},
  };
  Memory expected;
  Memory memory;
  for (const std::vector<Sent>& sent : rounds) {
    const std::vector<double> weights = plain(sent, expected);
    const float result = this->result();
    const std::vector<Sent> backwards(sent.rbegin(), sent.rend());
    OpenRound round =
        filled(backwards, {.cohort = {"c", "a", "evil", "b"}, .quorum = 1, .deadline = 0.0});
    EXPECT_EQ(close(round, &memory).weights, weights);
    EXPECT_EQ(this->result(), result);
    EXPECT_EQ(memory.save(), expected.save());
  }
  EXPECT_EQ(memory.rounds(), 4U);
  EXPECT_EQ(memory.find("b")->seen, 3U);
  EXPECT_EQ(memory.find("evil")->state[1], 1) << "refused on arrival, it failed the round";
  EXPECT_EQ(memory.find("a")->state[1], 1);
}

// Refused ids cost nothing where there is no cohort, so they must not push out those that count.
TEST_F(OpenRoundRemembers, WithoutACohortOnlyThoseWhoseUpdateIsIn) {
  Memory expected;
  Memory memory;
  for (int number = 0; number < 2; ++number) {
    const std::vector<double> weights = plain({{"a", 2}, {"b", 3}, {"c", 1}}, expected);
    OpenRound round = filled({{"junk", kNaN}, {"c", 1}, {"a", 2}, {"b", 3}}, {.most = 3});
    EXPECT_EQ(close(round, &memory).weights, weights);
    EXPECT_EQ(memory.save(), expected.save());
  }
  EXPECT_EQ(memory.find("junk"), nullptr);
}

TEST_F(OpenRoundRemembers, OnceHoweverOftenItIsClosed) {
  const std::vector<Sent> sent = {{"a", 2}, {"b", 8}};
  Memory memory;
  plain({{"a", 1}, {"x", 1}}, memory);
  OpenRound round = filled(sent, {.cohort = {"a", "b"}});
  UpdateMatrix wrong(DType::kFloat32, 1, kLength + 1);
  EXPECT_FALSE(round.close(0, wrong.row(0), &memory));
  EXPECT_EQ(memory.rounds(), 1U) << "a close that fails is not remembered";

  const Verdict first = close(round, &memory);
  const float result = this->result();
  EXPECT_EQ(first.weights, (std::vector<double>{0.6, 0.4})) << "a had weight 0.5 before";
  const std::string bytes = memory.save();
  EXPECT_EQ(memory.rounds(), 2U);
  Memory other;
  for (Memory* again : {&memory, &other, static_cast<Memory*>(nullptr), &memory}) {
    const Verdict verdict = close(round, again);
    EXPECT_EQ(verdict.weights, first.weights);
    EXPECT_EQ(verdict.notes, first.notes);
    EXPECT_EQ(this->result(), result);
  }
  EXPECT_EQ(memory.save(), bytes);
  EXPECT_EQ(other.rounds(), 0U);
}

TEST_F(OpenRoundRemembers, NothingIfTheFirstCloseHadNoMemory) {
  Memory memory;
  plain({{"a", 1}, {"x", 1}}, memory);
  OpenRound round = filled({{"a", 2}, {"b", 8}}, {.cohort = {"a", "b"}});
  EXPECT_EQ(close(round, nullptr).weights, (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(close(round, &memory).weights, (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(memory.rounds(), 1U);
}

TEST_F(OpenRoundRemembers, OnceIfThreadsCloseAtOnce) {
  for (int turn = 0; turn < 20; ++turn) {
    Memory memory;
    OpenRound round = filled({{"a", 2}, {"b", 8}}, {.cohort = {"a", "b"}});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        UpdateMatrix out(DType::kFloat32, 1, kLength);
        EXPECT_TRUE(round.close(0, out.row(0), &memory));
        EXPECT_EQ(out.view().row<float>(0)[0], 5);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(memory.rounds(), 1U);
  }
}

TEST_F(OpenRoundRemembers, NothingForARuleWithoutAMemory) {
  Memory memory;
  OpenRound round = filled({{"a", 2}, {"b", 8}}, {.cohort = {"a", "b"}}, toys::mean());
  close(round, &memory);
  EXPECT_EQ(memory.rounds(), 0U);
  OpenRound mixed = filled({{"a", 2}, {"b", 8}}, {.cohort = {"a", "b"}}, toys::paired(loyal()));
  close(mixed, &memory);
  EXPECT_EQ(memory.rounds(), 0U) << "a mixed row is no client";
}

TEST_F(OpenRoundRemembers, APartOfAMemoryAnswersForItsClients) {
  Memory memory(7);
  plain({{"a", 1}, {"b", 2}, {"c", 3}}, memory);
  const Memory part = memory.only(std::vector<std::string>{"c", "new", "a"});
  EXPECT_EQ(part.clients(), 2U);
  EXPECT_EQ(part.find("b"), nullptr);
  EXPECT_EQ(part.find("c")->state, memory.find("c")->state);
  EXPECT_EQ(part.find("c")->last, memory.find("c")->last);
  EXPECT_EQ(part.rounds(), 1U);
  EXPECT_EQ(part.most(), 7U);
  EXPECT_TRUE(part.suits("loyal", 2));
  EXPECT_FALSE(part.suits("loyal", 3));
  EXPECT_FALSE(part.suits("other", 2));
}

}  // namespace
}  // namespace boba
