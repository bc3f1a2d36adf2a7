// A decision that is too sensitive to rounding is taken again, on products formed in double.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <vector>

#include "tests/core/toys.h"

namespace boba {
namespace {

// Says how ill-conditioned its decision is, and by which rounding it was taken.
class SensitiveRule final : public WeightRule {
 public:
  explicit SensitiveRule(double condition) : condition_(condition) {}
  Result<void> admits(const Shape&) const override { return {}; }

 protected:
  Result<Decision> weigh(const Gram& gram, const Shape& shape) const override {
    Decision decision;
    decision.rows.resize(shape.clients);
    for (RowDecision& row : decision.rows) row.weight = 1.0 / static_cast<double>(shape.clients);
    decision.condition = condition_;
    decision.measures = {{"rounding", gram.rounding()}, {"distance", gram.sq_distance(0, 1)}};
    return decision;
  }

 private:
  double condition_;
};

struct Outcome {
  double rounding = 0;
  double distance = 0;
  std::size_t plain = 0;
  std::size_t in_double = 0;
};

Outcome aggregate(DType dtype, double condition, bool mix = false, bool hostile = false) {
  const double poison = hostile ? std::numeric_limits<double>::infinity() : 6;
  const UpdateMatrix updates =
      toys::matrix_of({{1, 2}, {3, 4}, {5, 0}, {1, 1}, {0, poison}}, dtype);
  const toys::WatchedKernels kernels;
  Round round;
  round.updates = updates.view();
  UpdateMatrix out(dtype, 1, 2);
  Aggregator rule(std::make_shared<SensitiveRule>(condition), "sensitive");
  if (mix) rule = toys::paired(rule);
  const auto verdict = rule.aggregate(kernels, round, out.row(0));
  EXPECT_TRUE(verdict.ok());
  if (!verdict) return {};
  return {verdict->measures[0].value, verdict->measures[1].value, kernels.calls("gram").size(),
          kernels.calls("gram in double").size()};
}

TEST(Sharpen, WellConditionedDecisionsStand) {
  const Outcome outcome = aggregate(DType::kFloat32, 100);
  EXPECT_EQ(outcome.rounding, 0x1p-24);
  EXPECT_EQ(outcome.distance, 8);
  EXPECT_EQ(outcome.in_double, 0u);
}

TEST(Sharpen, IllConditionedDecisionsAreTakenAgainOnce) {
  for (double condition :
       {1e6, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const Outcome outcome = aggregate(DType::kFloat32, condition);
    EXPECT_EQ(outcome.rounding, 0x1p-53);
    EXPECT_EQ(outcome.distance, 8);
    EXPECT_EQ(outcome.in_double, 1u);
  }
}

TEST(Sharpen, RowsInDoubleAreSharpAlready) {
  const Outcome outcome = aggregate(DType::kFloat64, 1e30);
  EXPECT_EQ(outcome.rounding, 0x1p-53);
  EXPECT_EQ(outcome.in_double, 0u);
}

TEST(Sharpen, KeepsStagesAndRefusals) {
  for (bool hostile : {false, true}) {
    const Outcome mixed = aggregate(DType::kFloat32, 1e6, true, hostile);
    EXPECT_EQ(mixed.in_double, 1u);
    EXPECT_EQ(mixed.distance, 1 + 2.5 * 2.5);  // (2, 3) and (3, 0.5)
    EXPECT_EQ(aggregate(DType::kFloat32, 1e6, false, hostile).distance, 8);
  }
}

}  // namespace
}  // namespace boba
