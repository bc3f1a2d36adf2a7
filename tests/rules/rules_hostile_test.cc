#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/rules_cases.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

// What a client may send that is no update. The kind is refused for both types.
struct Poison {
  const char* name;
  double value;
  bool everywhere;  // else in one coordinate only
};
const Poison kPoisons[] = {{"NaN", kNaN, false},
                           {"infinity", kInfinity, false},
                           {"minus infinity", -kInfinity, true},
                           {"1e300", 1e300, true}};

Row poisoned(Row row, const Poison& poison, DType dtype) {
  const double value = dtype == DType::kFloat32 && poison.value == 1e300 ? 3e38 : poison.value;
  if (poison.everywhere) return Row(row.size(), value);
  row[row.size() / 2] = value;
  return row;
}

// The server's gradients alone may decide.
bool reads_clients(const Outcome& o) {
  return !o.verdict.weighted || std::any_of(o.verdict.weights.begin(), o.verdict.weights.end(),
                                            [](double weight) { return weight != 0; });
}

class Hostile : public testing::TestWithParam<RuleCase> {};

TEST_P(Hostile, RefusedRowsHaveNoInfluenceAndLowerF) {
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      const FullRound full = full_round(13, 12, dtype, 11);
      const Outcome expected = run(*kernels, GetParam().spec(1), full.input);
      for (const Poison& poison : kPoisons) {
        SCOPED_TRACE(std::string(kernels->name()) + ", " + poison.name);
        Rows rows = full.input.updates;
        rows.insert(rows.begin() + 4, poisoned(rows[4], poison, dtype));
        rows.push_back(poisoned(rows[0], poison, dtype));
        const Outcome o = run(*kernels, GetParam().spec(3), full.input.with_updates(rows));
        EXPECT_LT(relative_error(o.out, expected.out), 1e-12);
        EXPECT_EQ(o.verdict.refused, 2U);
        for (std::size_t i : {std::size_t{4}, rows.size() - 1}) {
          const ClientVerdict& client = o.verdict.clients[i];
          EXPECT_TRUE(client.refused);
          EXPECT_FALSE(client.accepted);
          EXPECT_EQ(client.weight.value_or(0), 0);
          EXPECT_EQ(client.reason.find("refused: "), 0U) << client.reason;
        }
        EXPECT_FALSE(o.verdict.clients[5].refused);
      }
    }
  }
}

TEST_P(Hostile, ARepeatedIdCountsOnceAndLeavesFAlone) {
  FullRound full = full_round(11, 6, DType::kFloat64, 3);
  const Outcome expected = run(reference(), GetParam().spec(2), full.input);
  Rows rows = full.input.updates;
  rows.insert(rows.begin() + 7, Row(6, 1000.0));
  RoundInput input = full.input.with_updates(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) input.ids.push_back("client " + std::to_string(i));
  input.ids[7] = "client 2";
  const Outcome o = run(reference(), GetParam().spec(2), input);
  EXPECT_EQ(o.out, expected.out);
  EXPECT_TRUE(o.verdict.clients[7].refused);
  EXPECT_FALSE(o.verdict.clients[2].refused);
  EXPECT_NE(o.verdict.clients[7].reason.find("'client 2'"), std::string::npos);
}

TEST_P(Hostile, WhenAllAreRefusedItSaysWho) {
  const FullRound honest = full_round(12, 3, DType::kFloat32, 3);
  if (!reads_clients(run(reference(), GetParam().spec(1), honest.input))) return;
  FullRound full = full_round(4, 3, DType::kFloat32, 3);
  for (Row& row : full.input.updates) row[1] = kNaN;
  const Result<Outcome> o = try_run(reference(), GetParam().spec(1), full.input);
  ASSERT_FALSE(o);
  EXPECT_EQ(o.error().code, ErrorCode::kRefused);
  EXPECT_NE(o.error().message.find("all 4 updates were refused"), std::string::npos)
      << o.error().message;
}

TEST_P(Hostile, EqualAndZeroRowsAreNoTrouble) {
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      FullRound full = full_round(12, 7, dtype, 3);
      const Rows server = full.input.server;
      for (double value : {0.0, 0.3, 1e-40, -1e20}) {
        full.input.updates = Rows(12, Row(7, value));
        // Beside much larger clients the server's rows would all be equal.
        full.input.server = scaled(server, std::max(1.0, std::abs(value)));
        const Outcome o = run(*kernels, GetParam().spec(1), full.input);
        for (double x : o.out) EXPECT_TRUE(std::isfinite(x)) << value;
        if (GetParam().traits.shifts) {
          EXPECT_LT(relative_error(o.out, rounded(Row(7, value), dtype), 1e-45), 1e-6) << value;
        }
      }
    }
  }
}

TEST_P(Hostile, TinyNumbersKeepTheirMeaning) {
  if (!GetParam().traits.scales) return;
  const double tiny = 0x1p-70;  // squares of it are lost in float
  for (const auto& kernels : all_kernels()) {
    FullRound full = full_round(12, 7, DType::kFloat32, 3);
    const Row large = run(*kernels, GetParam().spec(2), full.input).out;
    full.input.updates = scaled(full.input.updates, tiny);
    full.input.server = scaled(full.input.server, tiny);
    const Row small = run(*kernels, GetParam().spec(2), full.input).out;
    EXPECT_LT(relative_error(scaled({small}, 1 / tiny)[0], large), 1e-6);
  }
}

TEST_P(Hostile, FarOutUpdatesStayOutside) {
  if (!GetParam().traits.robust) return;
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      FullRound full = full_round(15, 8, dtype, 5);
      const Rows honest(full.input.updates.begin() + 3, full.input.updates.end());
      double radius = 0;
      for (const Row& row : honest) radius = std::max(radius, norm(row));
      for (double far : {1e3, -1e10, 1e18, 1e30}) {
        Rows rows = full.input.updates;
        rows[0] = Row(8, far);
        rows[1] = Row(8, -far / 3);
        rows[2] = scaled({rows[2]}, far)[0];
        const Outcome o = run(*kernels, GetParam().spec(3), full.input.with_updates(rows));
        // A geometric median may leave the honest hull, by 2 (n - f)/(n - 2f) radii at most.
        EXPECT_LT(norm(o.out), radius * 2 * 12 / 9) << far;
        if (!o.verdict.weighted) continue;
        // A rule that accepts everybody gives them less weight than any other.
        const bool weighs = o.verdict.accepted() == 15;
        const std::vector<double>& weights = o.verdict.weights;
        const double least = *std::min_element(weights.begin() + 3, weights.end());
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_TRUE(weighs ? weights[i] < least : !o.verdict.clients[i].accepted) << far;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllRules, Hostile, testing::ValuesIn(rule_cases()),
                         [](const auto& rule) { return test_name(rule.param.name()); });

TEST(HostileRound, MissingOrMisshapenInputsAreNamed) {
  FullRound full = full_round(6, 5, DType::kFloat64, 1);
  RoundInput input = full.input;
  input.oracle = nullptr;
  for (const RuleCase& rule : rule_cases()) {
    const std::string error = error_of(reference(), rule.spec(1), input);
    EXPECT_EQ(error.find("oracle") != std::string::npos, rule.needs_oracle)
        << rule.spec(1) << ": " << error;
  }
  input = full.input;
  input.model = {};
  EXPECT_NE(error_of(reference(), "selfrej(f=1)", input).find("model"), std::string::npos);
  input = full.input;
  for (double eta : {0.0, -1.0, kNaN, kInfinity}) {
    input.eta = eta;
    EXPECT_NE(error_of(reference(), "zeno(f=1)", input).find("learning_rate"), std::string::npos);
  }
  input = full.input;
  input.server = random_rows(3, 4, 1);
  EXPECT_EQ(error_of(reference(), "average", input),
            "round: a server gradient has length 4, the updates have length 5");
  input = full.input;
  input.counts = {1, 2};
  EXPECT_EQ(error_of(reference(), "fltrust", input),
            "round: 2 server counts for 3 server gradients");
  input = full.input;
  input.server[1][2] = kNaN;
  EXPECT_NE(error_of(reference(), "fltrust", input).find("server gradient 1"), std::string::npos);
  EXPECT_EQ(error_of(reference(), "average", {.updates = {}}),
            "round: no updates came; at least one is needed");
}

TEST(HostileRound, AnErrorAfterRefusalsSaysSo) {
  const Result<Outcome> o = try_run(reference(), "krum", {.updates = {{1}, {2}, {kNaN}}});
  ASSERT_FALSE(o);
  EXPECT_EQ(o.error().code, ErrorCode::kRefused);
  EXPECT_EQ(o.error().message.find("krum needs n - f - 2 >= 1; got n=2, f=0; 1 updates were "), 0U)
      << o.error().message;
}

TEST(HostileRound, MoreRefusedThanToleratedIsAWarning) {
  FullRound full = full_round(9, 4, DType::kFloat64, 1);
  for (std::size_t i : {1, 3, 5}) full.input.updates[i][0] = kNaN;
  for (const RuleCase& rule : rule_cases()) {
    if (!rule.has_tolerance) continue;
    const std::vector<std::string> warnings =
        run(reference(), rule.spec(2), full.input).verdict.warnings;
    EXPECT_EQ(std::count(warnings.begin(), warnings.end(),
                         "3 updates were refused, more than f=2: others may be Byzantine too"),
              1)
        << rule.name();
  }
}

}  // namespace
}  // namespace boba::test
