#include "boba/core/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace boba {
namespace {

Result<int> half(int x) {
  if (x % 2 != 0) return invalid_argument("half: " + std::to_string(x) + " is odd");
  return x / 2;
}

TEST(Result, HoldsAValue) {
  const Result<int> result = half(6);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(*result, 3);
  EXPECT_EQ(result.value(), 3);
}

TEST(Result, HoldsAnError) {
  const Result<int> result = half(7);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(result.error().message, "half: 7 is odd");
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  ASSERT_TRUE(result);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, ReachesMembers) {
  Result<std::string> result(std::string("abc"));
  EXPECT_EQ(result->size(), 3u);
  *result += "d";
  EXPECT_EQ(result.value(), "abcd");
}

TEST(Result, OfNothing) {
  const Result<void> good;
  EXPECT_TRUE(good.ok());
  const Result<void> bad = Error{ErrorCode::kIo, "no such file"};
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kIo);
  EXPECT_EQ(bad.error().message, "no such file");
}

}  // namespace
}  // namespace boba
