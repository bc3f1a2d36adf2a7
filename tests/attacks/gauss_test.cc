#include "boba/attacks/gauss.h"

#include <gtest/gtest.h>

#include "tests/support/attacks_rows.h"

namespace boba::testing {
namespace {

template <class T>
class GaussTest : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GaussTest, Types);

TYPED_TEST(GaussTest, DrawsTheStreamOfEachByzantineClient) {
  const AttackRows<TypeParam> honest(random_rows<TypeParam>(2, 33, 1));
  const auto forged = forge("gauss(sigma=3)", honest, 3, {.seed = 7, .number = 5});
  ASSERT_TRUE(forged.ok) << forged.error.message;
  for (std::uint32_t j = 0; j < 3; ++j) {
    const StreamKey key{7, 5, j, Purpose::kGauss};
    for (std::size_t k = 0; k < 33; ++k) {
      EXPECT_EQ(forged.rows[j][k], static_cast<TypeParam>(3 * normal_at(key, k)));
    }
  }
  EXPECT_EQ(forged.measure("sigma"), 3);
}

TYPED_TEST(GaussTest, HasTheVarianceAsked) {
  const AttackRows<TypeParam> honest(random_rows<TypeParam>(1, 200'000, 1));
  const auto forged = forge("gauss", honest, 1);
  ASSERT_TRUE(forged.ok);
  double sum = 0;
  double squares = 0;
  for (TypeParam x : forged.rows[0]) {
    sum += static_cast<double>(x);
    squares += static_cast<double>(x) * static_cast<double>(x);
  }
  // Six standard errors of mean and variance.
  EXPECT_NEAR(sum / 200'000, 0, 6 * std::sqrt(200.0 / 200'000));
  EXPECT_NEAR(squares / 200'000, 200, 6 * 200 * std::sqrt(2.0 / 200'000));
}

TEST(Gauss, RoundsSeedsAndClientsDraw) {
  const AttackRows<double> honest(random_rows<double>(1, 8, 1));
  const auto first = forge("gauss", honest, 2, {.seed = 1, .number = 1});
  EXPECT_EQ(first.rows, forge("gauss", honest, 2, {.seed = 1, .number = 1}).rows);
  EXPECT_NE(first.rows[0], first.rows[1]);
  EXPECT_NE(first.rows, forge("gauss", honest, 2, {.seed = 2, .number = 1}).rows);
  EXPECT_NE(first.rows, forge("gauss", honest, 2, {.seed = 1, .number = 2}).rows);
  // More attackers do not change what the first ones send.
  EXPECT_EQ(first.rows[1], forge("gauss", honest, 5, {.seed = 1, .number = 1}).rows[1]);
}

TEST(Gauss, OnParametersDividesByTheLearningRate) {
  const AttackRows<double> honest(random_rows<double>(1, 16, 1));
  const auto forged = forge("gauss(sigma=200,on=parameters)", honest, 1, {.learning_rate = 0.25});
  ASSERT_TRUE(forged.ok) << forged.error.message;
  EXPECT_EQ(forged.rows, forge("gauss(sigma=800)", honest, 1).rows);
  EXPECT_EQ(forged.measure("sigma"), 800);
}

TEST(Gauss, OnParametersNeedsTheLearningRate) {
  const AttackRows<double> honest(random_rows<double>(1, 4, 1));
  for (double rate : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(forge("gauss(on=parameters)", honest, 1, {.learning_rate = rate}).ok);
  }
  EXPECT_EQ(forge("gauss(on=parameters)", honest, 1).error.message,
            "gauss(on=parameters) needs the round's learning rate; got 0");
}

TEST(Gauss, NeedsNoHonestClient) {
  const Result<NamedAttack> gauss = make_gauss({.sigma = 1});
  ASSERT_TRUE(gauss);
  const auto forged = forge<float>(*gauss->attack, *make_reference_kernels(), {}, 2, 5);
  ASSERT_TRUE(forged.ok);
  for (const auto& row : forged.rows) {
    for (float x : row) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(Gauss, SaysThatItOverflows) {
  const AttackRows<float> honest(random_rows<float>(1, 400, 1));
  const auto forged = forge("gauss(sigma=1e30,on=parameters)", honest, 1, {.learning_rate = 1e-12});
  ASSERT_TRUE(forged.ok);
  EXPECT_EQ(forged.measure("overflow"), 1);
}

TEST(Gauss, MovesToTheMeanAsked) {
  const AttackRows<double> honest(random_rows<double>(1, 16, 1));
  const auto at_zero = forge("gauss(sigma=3)", honest, 1);
  const auto moved = forge("gauss(sigma=3,mean=-5)", honest, 1);
  ASSERT_TRUE(moved.ok) << moved.error.message;
  for (std::size_t k = 0; k < 16; ++k) EXPECT_EQ(moved.rows[0][k], at_zero.rows[0][k] - 5);
  EXPECT_EQ(moved.measure("mean"), -5);
  const auto halved =
      forge("gauss(sigma=0,mean=2,on=parameters)", honest, 1, {.learning_rate = 0.5});
  EXPECT_EQ(halved.rows[0], std::vector<double>(16, 4.0));
}

TEST(Gauss, SaysWhereTheMeanOverflows) {
  const AttackRows<float> honest(random_rows<float>(1, 4, 1));
  const auto forged =
      forge("gauss(sigma=0,mean=1e30,on=parameters)", honest, 1, {.learning_rate = 1e-10});
  ASSERT_TRUE(forged.ok) << forged.error.message;
  EXPECT_EQ(forged.measure("overflow"), 1);
}

}  // namespace
}  // namespace boba::testing
