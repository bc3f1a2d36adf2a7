#include "boba/core/refusal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/core/toys.h"

namespace boba {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMaxFloat = std::numeric_limits<float>::max();

// The rows refused, by the reference kernels and the scan of their own pass.
std::vector<Refusal> refused(const UpdateMatrix& matrix) {
  const toys::WatchedKernels kernels;
  const DotsPass pass = kernels.dots(matrix.view(), {}, {});
  return refusals(kernels, matrix.view(), pass.scan);
}

TEST(Refusals, TakeOrdinaryRows) {
  EXPECT_TRUE(refused(toys::matrix_of({{1, 2}, {0, 0}, {-1e30, 1e-40}}, DType::kFloat32)).empty());
  EXPECT_TRUE(refused(toys::matrix_of({{1, 2}, {0, 0}, {1e149, -1e149}})).empty());
}

TEST(Refusals, NameRowsThatAreNotFinite) {
  for (DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const auto found =
        refused(toys::matrix_of({{1, kNan}, {1, 2}, {kInfinity, 0}, {0, -kInfinity}}, dtype));
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].row, 0u);
    EXPECT_EQ(found[1].row, 2u);
    EXPECT_EQ(found[2].row, 3u);
    EXPECT_EQ(found[0].reason, "refused: it contains NaN or infinity");
  }
}

TEST(Refusals, NameRowsWhoseNormOverflows) {
  const auto found = refused(toys::matrix_of(
      {{kMaxFloat, 0, 0}, {kMaxFloat, kMaxFloat, 0}, {3e38, 3e38, 3e38}}, DType::kFloat32));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].row, 1u);
  EXPECT_EQ(found[1].row, 2u);
  EXPECT_EQ(found[0].reason,
            "refused: its norm 4.81e+38 exceeds 3.4e+38, the largest used with float32");
}

TEST(Refusals, DoubleHasALimitOfItsOwn) {
  const double limit = largest_norm(DType::kFloat64);
  EXPECT_TRUE(std::isfinite(4 * limit * limit));
  EXPECT_TRUE(refused(toys::matrix_of({{limit, 0}})).empty());
  EXPECT_EQ(refused(toys::matrix_of({{limit, limit}, {1e300, 0}, {1, 1}})).size(), 2u);
}

TEST(Refusals, ReadOnlyDoubtfulRowsAgain) {
  const toys::WatchedKernels kernels;
  const UpdateMatrix matrix = toys::matrix_of({{1, 2}, {kMaxFloat, 1}, {3, 4}}, DType::kFloat32);
  const std::vector<RowScan> scan = {{true, 2}, {true, kMaxFloat}, {true, 4}};
  EXPECT_TRUE(refusals(kernels, matrix.view(), scan).empty());
  ASSERT_EQ(kernels.calls("dots").size(), 1u);
  EXPECT_EQ(kernels.calls("dots")[0].rows, 1u);
}

}  // namespace
}  // namespace boba
