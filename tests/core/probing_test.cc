// The questions that probing rules ask of the rows.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "boba/core/prepared_rows.h"
#include "tests/core/toys.h"

namespace boba {
namespace {

using toys::matrix_of;

// The loss |w|^2 and its gradient 2 w; or a fixed loss.
class SquareOracle final : public ServerOracle {
 public:
  Result<double> loss(const UpdateView& point) override {
    if (fixed) return *fixed;
    double sum = 0;
    for (std::size_t k = 0; k < point.length(); ++k) {
      sum += point.row<double>(0)[k] * point.row<double>(0)[k];
    }
    return sum;
  }
  Result<void> gradient(const UpdateView& point, MutableRow out) override {
    for (std::size_t k = 0; k < point.length(); ++k) {
      out.as<double>()[k] = fixed ? *fixed : 2 * point.row<double>(0)[k];
    }
    return {};
  }

  std::size_t at_once() const override { return together; }
  Result<void> losses(const UpdateView& points, std::span<double> out) override {
    asked.push_back(points.rows());
    return ServerOracle::losses(points, out);
  }

  std::optional<double> fixed;
  std::size_t together = 1;
  std::vector<std::size_t> asked;  // rows of each question about losses
};

using Steps = std::vector<std::vector<RowSpace::Term>>;

struct Probe {
  UpdateMatrix updates = matrix_of({{1, 0}, {0, 2}, {4, 4}, {std::nan(""), 0}});
  UpdateMatrix model = matrix_of({{10, 20}});
  SquareOracle oracle;
  Round round;
  toys::WatchedKernels kernels;
  std::vector<MixStagePtr> mixes;

  Probe() {
    round.updates = updates.view();
    round.model = model.view();
    round.learning_rate = 0.5;
    round.oracle = &oracle;
  }
  PreparedRows rows() {
    Intake intake(round);
    const toys::MeanRule rule(Need::kNorms);
    auto rows = PreparedRows::make(kernels, round, rule, mixes, intake);
    EXPECT_TRUE(rows.ok());
    return *std::move(rows);
  }
};

TEST(Probing, AsksForTheLossOneStepAway) {
  Probe probe;
  PreparedRows rows = probe.rows();
  EXPECT_EQ(rows.shape().clients, 3u);
  EXPECT_EQ(rows.learning_rate(), 0.5);
  EXPECT_EQ(*rows.losses(0, Steps{}), std::vector<double>());
  const Steps steps = {{}, {{2, 1.0}}, {{0, 2.0}, {1, 1.0}}};  // (10, 20) less half of (4, 4)...
  EXPECT_EQ(*rows.losses(0, steps), (std::vector<double>{100 + 400, 64 + 324, 81 + 361}));
}

TEST(Probing, AsksAboutAsManyPointsAsTheOracleLikes) {
  const Steps steps = {{}, {{2, 1.0}}, {{0, 2.0}, {1, 1.0}}, {{0, 2.0}}, {{1, 1.0}}};
  const std::vector<double> expected = {500, 388, 442, 481, 461};
  const std::vector<std::vector<std::size_t>> asked = {
      {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {2, 2, 1}, {3, 2}, {4, 1}, {5}, {5}};
  for (std::size_t together = 0; together < asked.size(); ++together) {
    Probe probe;
    probe.oracle.together = together;
    PreparedRows rows = probe.rows();
    EXPECT_EQ(*rows.losses(0, steps), expected) << together;
    EXPECT_EQ(probe.oracle.asked, asked[together]) << together;
    // Points of another number before and after.
    EXPECT_EQ(rows.gradient_dots(steps[1])->server_sq, 16.0 * 16 + 36.0 * 36);
    EXPECT_EQ(*rows.losses(0, steps), expected) << together;
  }
}

TEST(Probing, HoldsASum) {
  Probe probe;
  PreparedRows rows = probe.rows();
  const double weights[] = {1, 1, 1};
  ASSERT_TRUE(rows.hold(weights));
  const Steps steps = {{}, {{2, -1.0}}};  // less (5, 6) / 2
  EXPECT_EQ(*rows.losses(1, steps),
            (std::vector<double>{7.5 * 7.5 + 17.0 * 17.0, 9.5 * 9.5 + 19.0 * 19.0}));
}

TEST(Probing, GivesProductsWithTheGradientThere) {
  Probe probe;
  PreparedRows rows = probe.rows();
  const RowSpace::Term one[] = {{2, 1.0}};
  const auto products = rows.gradient_dots(one);
  ASSERT_TRUE(products);
  EXPECT_EQ(products->dot, (std::vector<double>{16, 72, 208}));  // v = (16, 36)
  EXPECT_EQ(products->server_sq, 16.0 * 16 + 36.0 * 36);
}

TEST(Probing, WorksOnMixedRows) {
  Probe probe;
  probe.mixes = {std::make_shared<toys::PairStage>()};
  PreparedRows rows = probe.rows();
  ASSERT_EQ(rows.shape().clients, 1u);
  EXPECT_EQ(rows.sq_norms()[0], 1.25);  // |(0.5, 1)|^2
  const RowSpace::Term one[] = {{0, 4.0}};
  EXPECT_EQ(*rows.losses(0, Steps{{{0, 4.0}}}), std::vector<double>{81 + 324});
  const auto products = rows.gradient_dots(one);
  ASSERT_TRUE(products);
  EXPECT_EQ(products->dot, (std::vector<double>{45}));  // v = (18, 36)
}

TEST(Probing, ALossThatIsNoNumberIsInfinitelyBad) {
  Probe probe;
  probe.oracle.fixed = std::nan("");
  PreparedRows rows = probe.rows();
  EXPECT_EQ(*rows.losses(0, Steps{{}, {}}),
            std::vector<double>(2, std::numeric_limits<double>::infinity()));
  const auto products = rows.gradient_dots({});
  ASSERT_FALSE(products);
  EXPECT_EQ(products.error().message, "the server's gradient contains NaN or infinity");
}

TEST(Probing, SaysWhatTheRoundLacks) {
  const auto error_of = [](const std::function<void(Round&)>& change) {
    Probe probe;
    change(probe.round);
    PreparedRows rows = probe.rows();
    const auto losses = rows.losses(0, Steps{{}});
    EXPECT_EQ(losses.ok(), rows.gradient_dots({}).ok());
    return losses ? std::string("answered") : losses.error().message;
  };
  const std::string lacks =
      "this rule asks for the server's loss: the round needs an oracle and the model w";
  EXPECT_EQ(error_of([](Round& round) { round.oracle = nullptr; }), lacks);
  EXPECT_EQ(error_of([](Round& round) { round.model = {}; }), lacks);
  for (double eta : {0.0, -1.0, std::nan("")}) {
    EXPECT_NE(error_of([=](Round& round) { round.learning_rate = eta; }).find("must be positive"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace boba
