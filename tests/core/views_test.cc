#include "boba/core/views.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace boba {
namespace {

TEST(UpdateView, SeesRowsThatAreNotAdjacent) {
  const std::vector<float> a = {1, 2, 3};
  const std::vector<float> b = {4, 5, 6};
  const std::vector<const float*> table = {b.data(), a.data()};
  const UpdateView view(std::span<const float* const>(table), 3);
  EXPECT_EQ(view.rows(), 2u);
  EXPECT_EQ(view.length(), 3u);
  EXPECT_EQ(view.dtype(), DType::kFloat32);
  EXPECT_FALSE(view.empty());
  EXPECT_EQ(view.row<float>(0), b.data());
  EXPECT_EQ(view.row<float>(1)[2], 3);
}

TEST(UpdateView, IsEmptyToBeginWith) {
  const UpdateView view;
  EXPECT_TRUE(view.empty());
  EXPECT_EQ(view.length(), 0u);
}

TEST(DType, HasANameAndAVisitor) {
  EXPECT_EQ(name(DType::kFloat32), "float32");
  EXPECT_EQ(name(DType::kFloat64), "float64");
  EXPECT_EQ(visit(DType::kFloat32, [](auto zero) { return sizeof(zero); }), 4u);
  EXPECT_EQ(visit(DType::kFloat64, [](auto zero) { return sizeof(zero); }), 8u);
}

TEST(RowList, PicksAndJoinsWithoutCopying) {
  UpdateMatrix first(DType::kFloat64, 3, 2);
  UpdateMatrix second(DType::kFloat64, 1, 2);
  RowList list(DType::kFloat64, 2);
  list.add(first.view(), 2);
  list.add(first.view(), 0);
  list.add(second.view());
  list.add(first.row(1));
  ASSERT_EQ(list.rows(), 4u);
  const UpdateView view = list.view();
  EXPECT_EQ(view.row<double>(0), first.view().row<double>(2));
  EXPECT_EQ(view.row<double>(1), first.view().row<double>(0));
  EXPECT_EQ(view.row<double>(2), second.view().row<double>(0));
  EXPECT_EQ(view.row<double>(3), first.view().row<double>(1));
}

TEST(RowList, OfAViewEqualsTheView) {
  const UpdateMatrix matrix(DType::kFloat32, 4, 7);
  const RowList list(matrix.view());
  ASSERT_EQ(list.rows(), 4u);
  EXPECT_EQ(list.view().length(), 7u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(list.view().row<float>(i), matrix.view().row<float>(i));
  }
}

TEST(RowList, TakesColumns) {
  UpdateMatrix matrix(DType::kFloat32, 2, 10);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t k = 0; k < 10; ++k) {
      matrix.row_as<float>(i)[k] = static_cast<float>(10 * i + k);
    }
  }
  const RowList part = RowList(matrix.view()).columns(3, 4);
  const UpdateView view = part.view();
  EXPECT_EQ(view.rows(), 2u);
  EXPECT_EQ(view.length(), 4u);
  EXPECT_EQ(view.row<float>(0)[0], 3);
  EXPECT_EQ(view.row<float>(1)[3], 16);
  EXPECT_EQ(RowList(matrix.view()).columns(10, 0).view().length(), 0u);
}

template <class T>
class UpdateMatrixOf : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(UpdateMatrixOf, Elements);

TYPED_TEST(UpdateMatrixOf, AlignsEveryRowAndStartsAtZero) {
  for (std::size_t length : {0u, 1u, 7u, 8u, 15u, 16u, 17u, 1000u}) {
    UpdateMatrix matrix(kDType<TypeParam>, 5, length);
    EXPECT_EQ(matrix.rows(), 5u);
    EXPECT_EQ(matrix.length(), length);
    ASSERT_EQ(matrix.view().rows(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
      const TypeParam* row = matrix.view().template row<TypeParam>(i);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(row) % 64, 0u) << "length " << length;
      EXPECT_EQ(matrix.template row_as<TypeParam>(i).data(), row);
      EXPECT_EQ(matrix.row(i).length(), length);
      for (std::size_t k = 0; k < length; ++k) EXPECT_EQ(row[k], 0);
    }
  }
}

TYPED_TEST(UpdateMatrixOf, RowsDoNotOverlap) {
  UpdateMatrix matrix(kDType<TypeParam>, 3, 17);
  for (std::size_t i = 0; i < 3; ++i) {
    for (TypeParam& x : matrix.template row_as<TypeParam>(i)) x = static_cast<TypeParam>(i + 1);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    for (TypeParam x : matrix.template row_as<TypeParam>(i)) EXPECT_EQ(x, i + 1);
  }
}

TYPED_TEST(UpdateMatrixOf, SizesThatWrapAroundAreNoSmallMatrices) {
  constexpr std::size_t kHalf = std::size_t{1} << 32;
  for (const auto& [rows, length] : {std::pair{kHalf, kHalf},
                                     {std::size_t{1}, (std::size_t{1} << 62) + 1},
                                     {std::size_t{1} << 61, std::size_t{1}},
                                     {SIZE_MAX, std::size_t{0}}}) {
    EXPECT_THROW(UpdateMatrix(kDType<TypeParam>, rows, length), std::length_error);
  }
}

TYPED_TEST(UpdateMatrixOf, ViewOutlivesAMove) {
  UpdateMatrix matrix(kDType<TypeParam>, 2, 3);
  matrix.template row_as<TypeParam>(1)[2] = 9;
  const UpdateMatrix moved = std::move(matrix);
  EXPECT_EQ(moved.view().template row<TypeParam>(1)[2], 9);
}

}  // namespace
}  // namespace boba
