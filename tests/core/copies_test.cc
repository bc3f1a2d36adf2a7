// Which clients count as copies: by products, and coordinate by coordinate.
#include "boba/core/copies.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "boba/kernels/reference/reference.h"
#include "tests/core/toys.h"

namespace boba {
namespace {

using toys::matrix_of;

constexpr auto kNone = std::nullopt;

Copies near_of(const std::vector<std::vector<double>>& rows, DType dtype = DType::kFloat64) {
  const UpdateMatrix matrix = matrix_of(rows, dtype);
  return near_copies(Gram(make_reference_kernels()->gram(matrix.view(), {}), matrix.rows(), dtype));
}

Copies equal_of(const std::vector<std::vector<double>>& rows, DType dtype = DType::kFloat64) {
  const auto kernels = make_reference_kernels();
  const UpdateMatrix matrix = matrix_of(rows, dtype);
  return equal_copies(*kernels, matrix.view(), kernels->dots(matrix.view(), {}, {}).scan);
}

TEST(Copies, TheFirstOfAGroupIsNoCopy) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const Copies expected = {kNone, kNone, 0, kNone, 1, 0};
    const std::vector<std::vector<double>> rows = {{1, 5}, {2, 3}, {1, 5}, {9, 9}, {2, 3}, {1, 5}};
    EXPECT_EQ(near_of(rows, dtype), expected);
    EXPECT_EQ(equal_of(rows, dtype), expected);
  }
}

// A client's nearest is 1 away, so copies are at most 0.1 apart.
TEST(Copies, NearlyTheSameIsATenthOfTheTypicalDistanceToTheNearest) {
  const auto rows = [](double off) {
    return std::vector<std::vector<double>>{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {2 + off}};
  };
  EXPECT_EQ(near_of(rows(0.09))[7], 2U);
  EXPECT_EQ(near_of(rows(0.11))[7], kNone);
  EXPECT_EQ(equal_of(rows(0.09))[7], kNone);
  EXPECT_EQ(equal_of(rows(0))[7], 2U);
}

// However near each other the liars are, and wherever they are, honest clients keep their distance.
TEST(Copies, AMinorityDoesNotMakeCopiesOfHonestClients) {
  std::vector<std::vector<double>> rows = {{0}, {1}, {2}, {3}, {4}, {5}};
  for (const double liar : {1e6, 1e9, -1e6, 1e12, 3e9}) rows.push_back({liar});
  const Copies copies = near_of(rows);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(copies[i], kNone) << i;
}

// Equal largest values and equal norms, yet not the same.
TEST(Copies, RowsThatLookAlikeAreCompared) {
  EXPECT_EQ(equal_of({{3, 4}, {4, 3}, {-4, 3}, {4, -3}, {4, 3}}),
            (Copies{kNone, kNone, kNone, kNone, 1}));
  // One unit in the last place.
  EXPECT_EQ(equal_of({{1, 8}, {1 + 0x1p-52, 8}, {1, 8}}), (Copies{kNone, kNone, 0}));
  EXPECT_EQ(equal_of({{0, 0}, {0, 0}}), (Copies{kNone, 0}));
}

TEST(Copies, RowsThatAreNotFiniteAreNoCopies) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(equal_of({{nan, 1}, {nan, 1}, {1, 1}}), (Copies{kNone, kNone, kNone}));
}

TEST(Copies, FewClients) {
  EXPECT_EQ(near_of({{1, 2}}), Copies{kNone});
  EXPECT_EQ(near_of({{1, 2}, {1, 2}}), (Copies{kNone, 0}));
  EXPECT_EQ(near_of({{1, 2}, {3, 4}}), (Copies{kNone, kNone}));
}

TEST(Copies, Groups) {
  EXPECT_EQ(copy_groups({kNone, kNone, 0, 1, 0}),
            (std::vector<std::vector<std::size_t>>{{0, 2, 4}, {1, 3}}));
  EXPECT_TRUE(copy_groups({kNone, kNone}).empty());
}

}  // namespace
}  // namespace boba
