// What products about 0 are worth: a common part costs digits, and the round must know how many.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "boba/core/open_round.h"
#include "boba/core/random.h"
#include "boba/core/rule.h"
#include "boba/kernels/cpu/cpu.h"

namespace boba::test {
namespace {

constexpr std::size_t kClients = 8;

// Keeps what it is shown.
class LookingRule final : public WeightRule {
 public:
  struct Seen {
    double rounding = 0;
    std::vector<double> sq_distances;
  };
  explicit LookingRule(std::shared_ptr<Seen> seen) : seen_(std::move(seen)) {}
  Result<void> admits(const Shape&) const override { return {}; }

 protected:
  Result<Decision> weigh(const Gram& gram, const Shape& shape) const override {
    seen_->rounding = gram.rounding();
    seen_->sq_distances.clear();
    for (std::size_t i = 0; i < shape.clients; ++i) {
      for (std::size_t j = 0; j < i; ++j) seen_->sq_distances.push_back(gram.sq_distance(i, j));
    }
    Decision decision;
    decision.rows.resize(shape.clients);
    for (RowDecision& row : decision.rows) row.weight = 1.0 / static_cast<double>(shape.clients);
    return decision;
  }

 private:
  std::shared_ptr<Seen> seen_;
};

std::vector<std::string> names() {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < kClients; ++i) ids.push_back(std::to_string(i));
  return ids;
}

// Noise of size 1 about a common row of the given size per column, of random or of equal numbers.
UpdateMatrix rows_with_common(const Kernels& kernels, DType dtype, std::size_t d, double size,
                              bool equal = false) {
  UpdateMatrix rows(dtype, kClients, d);
  UpdateMatrix common(dtype, 1, d);
  kernels.normal({.seed = 99}, size, common.row(0));
  if (equal) {
    visit(dtype, [&]<Element T>(T) {
      for (T& number : common.row_as<T>(0)) number = static_cast<T>(size);
    });
  }
  const double one[] = {1.0};
  for (std::size_t i = 0; i < kClients; ++i) {
    kernels.normal({.seed = i}, 1, rows.row(i));
    kernels.combine(common.view(), one, 1, rows.row(i));
  }
  return rows;
}

// Differences of neighbours are exact in double, or nearly.
std::vector<double> exact_distances(const UpdateView& rows) {
  std::vector<double> distances;
  visit(rows.dtype(), [&]<Element T>(T) {
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        long double sum = 0;
        for (std::size_t k = 0; k < rows.length(); ++k) {
          const double apart =
              static_cast<double>(rows.row<T>(i)[k]) - static_cast<double>(rows.row<T>(j)[k]);
          sum += apart * apart;
        }
        distances.push_back(static_cast<double>(sum));
      }
    }
  });
  return distances;
}

struct Closed {
  LookingRule::Seen seen;
  Verdict verdict;
};

Closed fill(const Kernels& kernels, const UpdateMatrix& rows, std::optional<SketchPlan> sketch) {
  auto seen = std::make_shared<LookingRule::Seen>();
  const Aggregator rule(std::make_shared<LookingRule>(seen), "looking");
  Result<OpenRound> round = OpenRound::open(
      kernels, rule,
      {.dtype = rows.dtype(), .length = rows.length(), .cohort = names(), .sketch = sketch});
  EXPECT_TRUE(round);
  for (std::size_t i = 0; i < kClients; ++i) {
    RowList one(rows.dtype(), rows.length());
    one.add(rows.view(), i);
    EXPECT_TRUE(round->adopt(std::to_string(i), one.view()));
  }
  UpdateMatrix out(rows.dtype(), 1, rows.length());
  Result<Verdict> verdict = round->close(0, out.row(0));
  EXPECT_TRUE(verdict);
  return {*seen, verdict ? *std::move(verdict) : Verdict{}};
}

double worst_error(const std::vector<double>& got, const std::vector<double>& exact) {
  double worst = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    worst = std::max(worst, std::abs(got[k] - exact[k]) / exact[k]);
  }
  return worst;
}

// Each ratio of the common part to the noise: products about 0 up to some 10,000, and beyond it
// those of a pass about a better origin.
TEST(OpenRoundNumerics, TheRoundingItDeclaresIsTrue) {
  const auto kernels = make_cpu_kernels({.threads = 2});
  for (const bool equal : {false, true}) {
    for (const std::size_t d : {std::size_t{30'000}, std::size_t{1'000'000}}) {
      for (const double ratio : {1.0, 1e3, 1e4, 2e4, 4e4, 8e4}) {
        SCOPED_TRACE(testing::Message() << "ratio " << ratio << " d " << d << " equal " << equal);
        const UpdateMatrix rows = rows_with_common(*kernels, DType::kFloat32, d, ratio, equal);
        const Closed closed = fill(*kernels, rows, {});
        const double error = worst_error(closed.seen.sq_distances, exact_distances(rows.view()));
        // It is that of a product, and a distance is made of four. 2^-24: a pass over the rows.
        EXPECT_LT(error, 4 * closed.seen.rounding);
        EXPECT_EQ(closed.seen.rounding == 0x1p-24, ratio > 1e4);
        EXPECT_LE(closed.seen.rounding, 8 * 0x1p-24);
      }
    }
  }
}

TEST(OpenRoundNumerics, SketchesStaySketches) {
  const auto kernels = make_cpu_kernels({.threads = 2});
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const double ratio : {0.0, 1.0, 10.0, 1e3, 5e4}) {
      SCOPED_TRACE(testing::Message() << name(dtype) << " ratio " << ratio);
      const UpdateMatrix rows = rows_with_common(*kernels, dtype, 20'000, ratio);
      const Closed closed = fill(*kernels, rows, SketchPlan{.seed = 5, .length = 1024});
      EXPECT_EQ(closed.verdict.sketch, 1024U);
      // Off by the projection, 2 / sqrt(1024) on average, and by nothing more.
      const double error = worst_error(closed.seen.sq_distances, exact_distances(rows.view()));
      EXPECT_LT(error, 0.2);
      EXPECT_GT(error, 1e-3) << "these are not the products of the updates";
    }
  }
}

// Beyond what double has room for the updates are multiplied, and the verdict says so.
TEST(OpenRoundNumerics, SketchesThatAreNoUseAreGivenUpAloud) {
  const auto kernels = make_cpu_kernels({.threads = 2});
  const UpdateMatrix rows = rows_with_common(*kernels, DType::kFloat64, 20'000, 1e9);
  const Closed closed = fill(*kernels, rows, SketchPlan{.seed = 5, .length = 1024});
  EXPECT_EQ(closed.verdict.sketch, 0U);
  ASSERT_FALSE(closed.verdict.notes.empty());
  EXPECT_NE(closed.verdict.notes.back().find("products of sketches were no use"),
            std::string::npos);
  EXPECT_LT(worst_error(closed.seen.sq_distances, exact_distances(rows.view())), 1e-9);
}

}  // namespace
}  // namespace boba::test
