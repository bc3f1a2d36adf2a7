// What holds for every corruption.
#include "simulator/data/corruption.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/data_corruption.h"

namespace boba::testing {
using namespace sim;  // NOLINT
namespace {

std::string error_of(std::string_view name, int severity) {
  const Result<void> good = check_corruption(name, severity);
  return good ? "" : good.error().message;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const CorruptionInfo& info : all_corruptions()) all.emplace_back(info.name);
  return all;
}

class EveryCorruption : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, EveryCorruption, ::testing::ValuesIn(names()));

TEST(Corruptions, FifteenInThePapersOrderAndSpeckle) {
  ASSERT_EQ(common_corruptions().size(), 15u);
  EXPECT_EQ(common_corruptions()[0].name, "gaussian-noise");
  EXPECT_EQ(common_corruptions()[7].name, "snow");
  EXPECT_EQ(common_corruptions()[14].name, "jpeg-compression");
  ASSERT_EQ(all_corruptions().size(), 16u);
  EXPECT_EQ(all_corruptions()[15].name, "speckle-noise");
  std::set<std::string_view> different;
  for (const CorruptionInfo& info : all_corruptions()) {
    EXPECT_FALSE(info.summary.empty());
    different.insert(info.name);
  }
  EXPECT_EQ(different.size(), 16u);
}

TEST(Corruptions, ErrorsSayWhatWouldDo) {
  EXPECT_EQ(error_of("frost", 0), "frost has severities 1 to 5; got 0");
  EXPECT_EQ(error_of("frost", 6), "frost has severities 1 to 5; got 6");
  EXPECT_EQ(error_of("frost", -2147483647 - 1), "frost has severities 1 to 5; got -2147483648");
  const std::string wrong = error_of("forst", 3);
  EXPECT_EQ(
      wrong.find("no corruption 'forst'; did you mean frost? corruptions are: gaussian-noise"), 0u)
      << wrong;
  EXPECT_NE(error_of("", 1), "");
  EXPECT_NE(error_of("Frost", 1), "");
}

TEST_P(EveryCorruption, ChangesTheImageTheSameWayEveryTime) {
  for (int severity = 1; severity <= 5; ++severity) {
    ASSERT_EQ(error_of(GetParam(), severity), "");
    const Image before = smooth_image(kColour, 1);
    const Image once = corrupted(GetParam(), severity, 7, kColour, before);
    EXPECT_NE(once, before);
    EXPECT_EQ(once, corrupted(GetParam(), severity, 7, kColour, before));
  }
}

TEST_P(EveryCorruption, DependsOnTheKeyWhereSomethingIsDrawn) {
  const std::set<std::string> fixed = {"defocus-blur", "zoom-blur", "brightness",
                                       "contrast",     "pixelate",  "jpeg-compression"};
  const Image before = smooth_image(kColour, 1);
  const Image one = corrupted(GetParam(), 3, 1, kColour, before);
  const Image two = corrupted(GetParam(), 3, 2, kColour, before);
  EXPECT_EQ(one == two, fixed.contains(GetParam()));
  // Every part of the key counts.
  for (const StreamKey& key :
       {StreamKey{.seed = 1, .purpose = Purpose::kServerSample},
        StreamKey{.seed = 1, .round = 1, .purpose = Purpose::kCorruption},
        StreamKey{.seed = 1, .client = 1, .purpose = Purpose::kCorruption}}) {
    Image other = before;
    corrupt(GetParam(), 3, key, kColour, other);
    EXPECT_EQ(one == other, fixed.contains(GetParam()));
  }
}

TEST_P(EveryCorruption, SeverityIncreasesTheDistance) {
  double before = 0;
  for (int severity = 1; severity <= 5; ++severity) {
    double sum = 0;
    for (std::uint64_t k = 0; k < 60; ++k) {
      const Image image = smooth_image(kColour, k);
      sum += mean_square(image, corrupted(GetParam(), severity, k, kColour, image));
    }
    EXPECT_GT(sum, before) << severity;
    before = sum;
  }
  // Severity 5 is plain to see and leaves an image: 2 to 70 grey values of 255 on average.
  EXPECT_GT(before / 60, 2.0 * 2.0);
  EXPECT_LT(before / 60, 70.0 * 70.0);
}

TEST_P(EveryCorruption, TakesEverySize) {
  for (const ImageShape& shape :
       {ImageShape{1, 1, 1}, ImageShape{3, 2, 3}, ImageShape{1, 4, 4}, ImageShape{3, 4, 4},
        ImageShape{1, 8, 8}, ImageShape{1, 28, 28}, ImageShape{3, 32, 32}, ImageShape{3, 5, 17},
        ImageShape{1, 40, 4}, ImageShape{3, 96, 64}}) {
    for (const int severity : {1, 3, 5}) {
      // A guard behind the image: nothing is written beyond it.
      Image image = smooth_image(shape, 3);
      image.insert(image.end(), 64, 0xA5);
      corrupt(GetParam(), severity, {.seed = 5}, shape, std::span(image).first(shape.size()));
      for (std::size_t i = shape.size(); i < image.size(); ++i) ASSERT_EQ(image[i], 0xA5);
    }
  }
}

TEST_P(EveryCorruption, BlackAndWhiteImagesStayFinite) {
  for (const std::uint8_t level : {std::uint8_t{0}, std::uint8_t{255}}) {
    for (int severity = 1; severity <= 5; ++severity) {
      const Image image(kGrey.size(), level);
      EXPECT_EQ(corrupted(GetParam(), severity, 1, kGrey, image).size(), image.size());
    }
  }
}

TEST_P(EveryCorruption, SameBytesFromEveryThread) {
  constexpr std::size_t kImages = 12;
  std::vector<Image> alone;
  for (std::size_t k = 0; k < kImages; ++k) {
    alone.push_back(corrupted(GetParam(), 4, k, kColour, smooth_image(kColour, k)));
  }
  std::vector<Image> together(kImages);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t k = t; k < kImages; k += 4) {
        together[k] = corrupted(GetParam(), 4, k, kColour, smooth_image(kColour, k));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(alone, together);
}

// Without a tint and without noise of their own, three equal channels stay equal and are what a
// grey image becomes.
TEST_P(EveryCorruption, EqualChannelsAreTreatedAlike) {
  const std::set<std::string> unequal = {"gaussian-noise", "shot-noise",       "impulse-noise",
                                         "speckle-noise",  "jpeg-compression", "frost"};
  if (unequal.contains(GetParam())) return;
  const Image grey = smooth_image({1, 32, 32}, 2);
  Image colour = grey;
  colour.insert(colour.end(), grey.begin(), grey.end());
  colour.insert(colour.end(), grey.begin(), grey.end());
  const Image want = corrupted(GetParam(), 4, 3, {1, 32, 32}, grey);
  const Image got = corrupted(GetParam(), 4, 3, kColour, colour);
  for (std::size_t i = 0; i < got.size(); ++i) {
    // Luminance sums three rounded products.
    EXPECT_NEAR(got[i], want[i % want.size()], 1) << i;
  }
}

}  // namespace
}  // namespace boba::testing
