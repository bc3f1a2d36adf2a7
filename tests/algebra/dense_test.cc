#include "boba/algebra/dense.h"

#include <gtest/gtest.h>

#include <limits>

namespace boba::algebra {
namespace {

Eigen::MatrixXd with_values(double least, double most) {
  Eigen::Matrix3d turned;
  turned << 2, -2, 1, 1, 2, 2, 2, 1, -2;
  turned /= 3;
  return turned * Eigen::Vector3d(most, least, 0.5 * (least + most)).asDiagonal() *
         turned.transpose();
}

TEST(SquaredSingularValues, HasTheSquaresRising) {
  const auto squares = squared_singular_values(with_values(1e-3, 4));
  ASSERT_TRUE(squares);
  ASSERT_EQ(squares->size(), 3);
  EXPECT_NEAR((*squares)(0), 1e-3, 1e-12);
  EXPECT_NEAR((*squares)(1), 2.0005, 1e-12);
  EXPECT_NEAR((*squares)(2), 4, 1e-12);
}

TEST(SquaredSingularValues, IsNoneWhereDigitsAreLost) {
  EXPECT_TRUE(squared_singular_values(with_values(4.1e-6, 4)));
  EXPECT_FALSE(squared_singular_values(with_values(3.9e-6, 4)));
  EXPECT_FALSE(squared_singular_values(with_values(0, 4)));
  EXPECT_FALSE(squared_singular_values(Eigen::MatrixXd::Zero(2, 2)));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(squared_singular_values(Eigen::MatrixXd::Constant(2, 2, nan)));
}

}  // namespace
}  // namespace boba::algebra
