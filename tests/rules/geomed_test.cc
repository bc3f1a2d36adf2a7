#include <gtest/gtest.h>

#include <cmath>

#include "boba/core/gram.h"
#include "tests/support/rules_cases.h"
#include "tests/support/rules_oracle.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

// What the result may lack of the condition for a minimum, per client.
double defect(DType dtype) { return dtype == DType::kFloat32 ? 2e-6 : 1e-8; }

TEST(GeometricMedian, OfSymmetricPoints) {
  for (const auto& kernels : all_kernels()) {
    const Outcome square = run(*kernels, "geomed", {.updates = {{0, 0}, {2, 0}, {0, 2}, {2, 2}}});
    EXPECT_LT(relative_error(square.out, {1, 1}), 1e-12);
    for (double w : square.verdict.weights) EXPECT_NEAR(w, 0.25, 1e-12);
    EXPECT_NEAR(measure(square.verdict.clients[0].measures, "distance"), std::sqrt(2.0), 1e-12);
    EXPECT_EQ(measure(square.verdict.measures, "converged"), 1);
  }
}

TEST(GeometricMedian, OfATriangleIsItsFermatPoint) {
  // The paper's triangle: two honest clients d apart, the third e above their middle.
  const Rows rows = {{-1, 0}, {1, 0}, {0, 3}};
  const Outcome o = run(reference(), "geomed", {.updates = rows});
  EXPECT_NEAR(o.out[0], 0, 1e-9);
  EXPECT_NEAR(o.out[1], 1 / std::sqrt(3.0), 1e-9);
}

TEST(GeometricMedian, MayBeAnUpdate) {
  // The angle at the first is above 120 degrees.
  for (const auto& kernels : all_kernels()) {
    const Outcome o = run(*kernels, "geomed", {.updates = {{10, 1}, {0, 0}, {-10, 1}}});
    EXPECT_EQ(o.out, (Row{0, 0}));
    EXPECT_EQ(o.verdict.weights, (std::vector<double>{0, 1, 0}));
    EXPECT_EQ(o.verdict.clients[1].reason, "it is the median");
    EXPECT_EQ(o.verdict.clients[0].reason, "another update is the median, at distance 10.0499");
    EXPECT_EQ(measure(o.verdict.measures, "iterations"), 0);
  }
}

TEST(GeometricMedian, OnALineIsTheMedian) {
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      EXPECT_EQ(run(*kernels, "geomed", {{{1}, {7}, {3}, {100}, {2}}, dtype}).out, (Row{3}));
      // Any point between the middle two will do; their mean does not depend on the order.
      EXPECT_EQ(run(*kernels, "geomed", {{{1}, {7}, {3}, {100}}, dtype}).out, (Row{5}));
      EXPECT_EQ(run(*kernels, "geomed", {{{1, 1}, {3, 3}}, dtype}).out, (Row{2, 2}));
    }
  }
}

TEST(GeometricMedian, OfEqualUpdates) {
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      const Outcome o = run(*kernels, "geomed", {Rows(6, {0.1, -7, 1e3}), dtype});
      EXPECT_LT(relative_error(o.out, rounded(Row{0.1, -7, 1e3}, dtype)), 1e-7);
      EXPECT_EQ(run(*kernels, "geomed", {Rows(4, {0, 0}), dtype}).out, (Row{0, 0}));
    }
  }
}

TEST(GeometricMedian, OfAMajorityOfEqualUpdatesIsTheirs) {
  const Outcome o =
      run(reference(), "geomed", {.updates = {{5, 5}, {1, 2}, {1, 2}, {-9, 4}, {1, 2}}});
  EXPECT_EQ(o.out, (Row{1, 2}));
  EXPECT_NEAR(o.verdict.weights[1], 1.0 / 3, 1e-15);
}

TEST(GeometricMedian, IsAMinimum) {
  sweep([](const Kernels& kernels, std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
    const RoundInput input{.updates = rounded(random_rows(n, d, seed), dtype), .dtype = dtype};
    const Outcome o = run(kernels, "geomed", input);
    EXPECT_EQ(measure(o.verdict.measures, "converged"), 1);
    if (d > 1) {
      EXPECT_LT(oracle::geomed_defect(input.updates, o.out), defect(dtype));
    }
    const double least = oracle::distance_sum(input.updates, o.out);
    EXPECT_LE(least, oracle::distance_sum(input.updates, oracle::mean(input.updates)) * (1 + 1e-9));
    for (const Row& row : input.updates) {
      EXPECT_LE(least, oracle::distance_sum(input.updates, row) * (1 + 1e-6));
    }
    double sum = 0;
    for (double w : o.verdict.weights) {
      EXPECT_GE(w, 0);
      sum += w;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  });
}

TEST(GeometricMedian, ConvergesWhereWeiszfeldIsSlow) {
  // Nearly on a line, and a median close to one update: the plain iteration crawls.
  for (double thin : {1e-1, 1e-2, 1e-3}) {
    Rows rows = random_rows(12, 2, 77);
    for (Row& row : rows) row[1] *= thin;
    const Outcome o = run(reference(), "geomed", {.updates = rows});
    EXPECT_EQ(measure(o.verdict.measures, "converged"), 1) << thin;
    EXPECT_LT(measure(o.verdict.measures, "iterations"), 60) << thin;
    EXPECT_LT(oracle::geomed_defect(rows, o.out), 1e-6) << thin;
  }
  for (double close : {0.3, 1e-2, 1e-4, 1e-6}) {
    // At (0, 0) the others pull with a force just above 1.
    const double angle = std::acos((1 + close) / 2);
    const Rows rows = {
        {0, 0}, {std::cos(angle), std::sin(angle)}, {std::cos(angle), -std::sin(angle)}};
    const Outcome o = run(reference(), "geomed", {.updates = rows});
    EXPECT_LT(oracle::geomed_defect(rows, o.out), 1e-7) << close;
    EXPECT_LT(measure(o.verdict.measures, "iterations"), 60) << close;
  }
}

TEST(GeometricMedian, OneFarOutPullsWithForceOneOnly) {
  Rows rows = rounded(random_rows(15, 20, 8), DType::kFloat32);
  Row direction = rounded(random_rows(1, 20, 9), DType::kFloat32)[0];
  for (double far : {1e6, 1e15, 1e30}) {
    Rows attacked = rows;
    attacked[4] = rounded(scaled({direction}, far)[0], DType::kFloat32);
    for (const auto& kernels : all_kernels()) {
      for (DType dtype : kDTypes) {
        const Outcome o = run(*kernels, "geomed", {attacked, dtype});
        EXPECT_EQ(measure(o.verdict.measures, "converged"), 1) << far;
        // Seen from there the far one is a direction: its share in the pull.
        EXPECT_LT(oracle::geomed_defect(attacked, o.out), 1e-5) << far;
      }
    }
  }
}

TEST(GeometricMedian, WarnsAtMaxIter) {
  const Outcome o =
      run(reference(), "geomed(tolerance=1e-12,max_iter=1)", {.updates = random_rows(9, 3, 1)});
  EXPECT_EQ(measure(o.verdict.measures, "converged"), 0);
  ASSERT_EQ(o.verdict.warnings.size(), 1U);
  EXPECT_EQ(o.verdict.warnings[0].find("stopped after max_iter=1 steps"), 0U);
}

TEST(GeometricMedian, ToleranceIsRelative) {
  for (double size : {1e-18, 1e-9, 1e12}) {
    const Rows rows = scaled(random_rows(14, 6, 4), size);
    const Outcome o = run(reference(), "geomed", {.updates = rows});
    EXPECT_LT(oracle::geomed_defect(rows, o.out), 1e-8) << size;
  }
}

TEST(GeometricMedian, SmoothedStepsBeginAtZero) {
  // Distances from zero are 3 and 4, below nu for the last: weights 1/3, 1/4 and 1/1 over their
  // sum.
  const Rows rows = {{3, 0}, {0, 4}, {0.5, 0}};
  const double sum = 1.0 / 3 + 1.0 / 4 + 1;
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      const Outcome o = run(*kernels, "geomed(steps=1,nu=1)", {rows, dtype});
      EXPECT_NEAR(o.out[0], 1.5 / sum, 1e-6);
      EXPECT_NEAR(o.out[1], 1 / sum, 1e-6);
      EXPECT_EQ(measure(o.verdict.measures, "iterations"), 1);
    }
  }
}

TEST(GeometricMedian, ManySmoothedStepsReachTheMedian) {
  const Rows rows = {{-1, 0}, {1, 0}, {0, 3}};
  const Outcome o = run(reference(), "geomed(steps=300,nu=1e-09)", {.updates = rows});
  EXPECT_NEAR(o.out[0], 0, 1e-9);
  EXPECT_NEAR(o.out[1], 1 / std::sqrt(3.0), 1e-9);
}

TEST(GeometricMedian, SmoothedStepsStandExtremes) {
  // All at zero, tiny and huge updates: weights stay numbers.
  for (const Rows& rows :
       {Rows{{0, 0}, {0, 0}}, Rows{{1e-30, 0}, {0, 1e-30}}, Rows{{1e15, 0}, {0, 1}}}) {
    const Outcome o = run(reference(), "geomed(steps=3,nu=1e-300)", {.updates = rows});
    double sum = 0;
    for (double w : o.verdict.weights) sum += w;
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

}  // namespace
}  // namespace boba::test
