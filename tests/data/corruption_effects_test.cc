// What each corruption does, by formula.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/data/corruption.h"
#include "simulator/data/corruption_parts.h"
#include "tests/support/data_corruption.h"

namespace boba::testing {
using namespace sim;  // NOLINT
namespace {

constexpr ImageShape kLarge = {.channels = 1, .height = 200, .width = 200};
constexpr double kCount = 40'000;

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments(const Image& image) {
  const double average = mean(image);
  double squares = 0;
  for (const std::uint8_t value : image) squares += (value - average) * (value - average);
  return {average, std::sqrt(squares / static_cast<double>(image.size()))};
}

// Of a flat image of the level, far enough from both ends that nothing is cut.
Moments noise(std::string_view name, int severity, std::uint8_t level) {
  return moments(corrupted(name, severity, 11, kLarge, Image(kLarge.size(), level)));
}

// Rounding to bytes adds a variance of 1/12; five standard errors.
void expect_noise(const Moments& got, double level, double deviation) {
  const double all = std::sqrt(deviation * deviation + 1.0 / 12);
  EXPECT_NEAR(got.mean, level, 5 * all / std::sqrt(kCount));
  EXPECT_NEAR(got.deviation, all, 5 * all / std::sqrt(2 * kCount));
}

TEST(CorruptionEffects, GaussianNoiseHasItsDeviation) {
  constexpr std::array kSigma = {0.04, 0.06, 0.08, 0.09, 0.10};
  for (int s = 1; s <= 5; ++s) {
    expect_noise(noise("gaussian-noise", s, 128), 128, 255 * kSigma[std::size_t(s - 1)]);
  }
}

TEST(CorruptionEffects, SpeckleNoiseIsInProportion) {
  constexpr std::array kSigma = {0.06, 0.10, 0.12, 0.16, 0.20};
  for (int s = 1; s <= 5; ++s) {
    expect_noise(noise("speckle-noise", s, 128), 128, 128 * kSigma[std::size_t(s - 1)]);
    expect_noise(noise("speckle-noise", s, 60), 60, 60 * kSigma[std::size_t(s - 1)]);
  }
  EXPECT_EQ(noise("speckle-noise", 5, 0).deviation, 0);
}

TEST(CorruptionEffects, ShotNoiseHasTheVarianceOfItsPhotons) {
  constexpr std::array kPhotons = {500.0, 250.0, 100.0, 75.0, 50.0};
  for (int s = 1; s <= 5; ++s) {
    const double photons = kPhotons[std::size_t(s - 1)];
    for (const std::uint8_t level : {std::uint8_t{20}, std::uint8_t{128}}) {
      const double share = level / 255.0;
      const Moments got = noise("shot-noise", s, level);
      const double deviation = 255 * std::sqrt(share / photons);
      // Steps of 255 / photons are coarser than bytes, so rounding may shift by up to half a byte.
      EXPECT_NEAR(got.mean, level, 0.5 + 5 * deviation / std::sqrt(kCount));
      EXPECT_NEAR(got.deviation, deviation, 0.03 * deviation + 0.05);
    }
  }
  EXPECT_EQ(noise("shot-noise", 5, 0).mean, 0);
}

TEST(CorruptionEffects, ImpulseNoiseHasItsAmountOfBothEnds) {
  constexpr std::array kAmount = {0.01, 0.02, 0.03, 0.05, 0.07};
  for (int s = 1; s <= 5; ++s) {
    const Image image = corrupted("impulse-noise", s, 3, kLarge, Image(kLarge.size(), 100));
    const auto black = std::count(image.begin(), image.end(), 0);
    const auto full = std::count(image.begin(), image.end(), 255);
    EXPECT_EQ(std::count(image.begin(), image.end(), 100) + black + full, 40'000);
    const double half = kAmount[std::size_t(s - 1)] / 2 * kCount;
    EXPECT_NEAR(static_cast<double>(black), half, 5 * std::sqrt(half));
    EXPECT_NEAR(static_cast<double>(full), half, 5 * std::sqrt(half));
  }
}

TEST(CorruptionEffects, PoissonNumbersHaveTheirMoments) {
  // 3 is drawn by steps, the others by rejection; the third moment tells Poisson from normal.
  for (const double expected : {0.5, 3.0, 9.9, 10.1, 47.0, 480.0}) {
    Draws draws({.seed = 21, .purpose = Purpose::kCorruption});
    constexpr int kDraws = 100'000;
    double m1 = 0;
    double m2 = 0;
    double m3 = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double k = draws.poisson(expected);
      ASSERT_TRUE(k >= 0 && k == std::floor(k)) << k;
      const double x = k - expected;
      m1 += x / kDraws;
      m2 += x * x / kDraws;
      m3 += x * x * x / kDraws;
    }
    EXPECT_NEAR(m1, 0, 5 * std::sqrt(expected / kDraws)) << expected;
    EXPECT_NEAR(m2, expected, 5 * std::sqrt((2 * expected * expected + expected) / kDraws));
    // The sixth central moment of a Poisson number is about 15 mu^3 + 25 mu^2 + mu.
    const double sixth = 15 * std::pow(expected, 3) + 25 * expected * expected + expected;
    EXPECT_NEAR(m3, expected, 5 * std::sqrt(sixth / kDraws)) << expected;
  }
  EXPECT_EQ(Draws({}).poisson(0), 0);
}

// The mean square of the differences between neighbours in a row and in a column.
double roughness(const Image& image, const ImageShape& shape) {
  double sum = 0;
  const std::size_t w = shape.width;
  for (std::size_t y = 0; y + 1 < shape.height; ++y) {
    for (std::size_t x = 0; x + 1 < w; ++x) {
      const double here = image[y * w + x];
      sum += std::pow(here - image[y * w + x + 1], 2) + std::pow(here - image[(y + 1) * w + x], 2);
    }
  }
  return sum;
}

Image random_image(const ImageShape& shape) {
  Image image;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    image.push_back(static_cast<std::uint8_t>(256 * uniform_at({.seed = 9}, i)));
  }
  return image;
}

TEST(CorruptionEffects, BlurLowersWhatIsFine) {
  const Image image = random_image(kLarge);
  const double sharp = roughness(image, kLarge);
  for (const char* name : {"defocus-blur", "motion-blur", "zoom-blur"}) {
    for (const int severity : {1, 3, 5}) {
      const Image blurred = corrupted(name, severity, 1, kLarge, image);
      EXPECT_LT(roughness(blurred, kLarge), 0.97 * sharp) << name << severity;
      // Means stay: weights sum to one.
      EXPECT_NEAR(mean(blurred), mean(image), 1.5) << name << severity;
    }
  }
}

TEST(CorruptionEffects, BlurLeavesAFlatImage) {
  const Image flat(kGrey.size(), 77);
  for (const char* name : {"defocus-blur", "glass-blur", "motion-blur", "zoom-blur",
                           "elastic-transform", "pixelate", "contrast", "jpeg-compression"}) {
    for (int severity = 1; severity <= 5; ++severity) {
      for (const std::uint8_t value : corrupted(name, severity, 1, kGrey, flat)) {
        EXPECT_NEAR(value, 77, 1) << name << severity;
      }
    }
  }
}

TEST(CorruptionEffects, DefocusOfAPointIsADisk) {
  Image point(kLarge.size(), 0);
  point[100 * 200 + 100] = 255;
  const Image blurred = corrupted("defocus-blur", 5, 1, kLarge, point);
  // Radius 1.5: nine pixels of a ninth each; the edge is softened by 0.1 pixels, which is nothing.
  for (int dy = -3; dy <= 3; ++dy) {
    for (int dx = -3; dx <= 3; ++dx) {
      const int want = std::abs(dy) <= 1 && std::abs(dx) <= 1 ? 28 : 0;
      EXPECT_EQ(blurred[static_cast<std::size_t>((100 + dy) * 200 + 100 + dx)], want);
    }
  }
}

TEST(CorruptionEffects, GlassMovesPixelsByAtMostOneEachTurn) {
  // A step from 0 to 200 at column 100: beyond three turns and two small blurs, nothing changes.
  Image image;
  for (std::size_t i = 0; i < kLarge.size(); ++i) image.push_back(i % 200 < 100 ? 0 : 200);
  const Image glass = corrupted("glass-blur", 5, 1, kLarge, image);
  std::size_t mixed = 0;
  for (std::size_t i = 0; i < kLarge.size(); ++i) {
    if (i % 200 < 92 || i % 200 >= 108) {
      EXPECT_EQ(glass[i], image[i]);
    }
    mixed += glass[i] != image[i] ? 1 : 0;
  }
  EXPECT_GT(mixed, 200u);
}

TEST(CorruptionEffects, BrightnessRaisesTheValueAndKeepsTheHue) {
  constexpr std::array kRise = {0.05, 0.10, 0.15, 0.20, 0.30};
  for (int s = 1; s <= 5; ++s) {
    const int raised = static_cast<int>(std::lround(100 + 255 * kRise[std::size_t(s - 1)]));
    const Image out = corrupted("brightness", s, 1, {3, 4, 4}, [] {
      Image image(16, 100);
      image.insert(image.end(), 16, 50);
      image.insert(image.end(), 16, 0);
      return image;
    }());
    EXPECT_NEAR(out[0], raised, 1);
    EXPECT_NEAR(out[16], raised / 2.0, 1);
    EXPECT_EQ(out[32], 0);
  }
  // Black becomes grey, and white stays.
  EXPECT_EQ(corrupted("brightness", 3, 1, kGrey, Image(784, 0)), Image(784, 38));
  EXPECT_EQ(corrupted("brightness", 3, 1, kGrey, Image(784, 255)), Image(784, 255));
}

TEST(CorruptionEffects, ContrastShrinksAboutTheMean) {
  Image image(16, 100);
  std::fill(image.begin() + 8, image.end(), 200);
  const Image out = corrupted("contrast", 2, 1, {1, 4, 4}, image);
  EXPECT_EQ(out[0], 125);
  EXPECT_EQ(out[15], 175);
}

TEST(CorruptionEffects, PixelateRepeatsRowsAndColumns) {
  constexpr std::array kScale = {0.95, 0.90, 0.85, 0.75, 0.65};
  const ImageShape shape{1, 32, 32};
  const Image image = random_image(shape);
  for (int s = 1; s <= 5; ++s) {
    const Image out = corrupted("pixelate", s, 1, shape, image);
    std::set<std::string> rows;
    std::set<std::string> columns;
    for (std::size_t a = 0; a < 32; ++a) {
      std::string row;
      std::string column;
      for (std::size_t b = 0; b < 32; ++b) {
        row += static_cast<char>(out[a * 32 + b]);
        column += static_cast<char>(out[b * 32 + a]);
      }
      rows.insert(row);
      columns.insert(column);
    }
    const auto want = static_cast<std::size_t>(32 * kScale[std::size_t(s - 1)]);
    EXPECT_EQ(rows.size(), want);
    EXPECT_EQ(columns.size(), want);
  }
}

TEST(CorruptionEffects, JpegKeepsWhatIsSmooth) {
  for (const ImageShape& shape : {kColour, ImageShape{1, 32, 32}, ImageShape{2, 16, 16}}) {
    const Image image = smooth_image(shape, 4);
    EXPECT_LT(std::sqrt(mean_square(image, corrupted("jpeg-compression", 5, 1, shape, image))), 16);
  }
}

TEST(CorruptionEffects, WeatherLightensTheDark) {
  const Image dark(kColour.size(), 40);
  for (const char* name : {"snow", "frost"}) {
    for (int severity = 1; severity <= 5; ++severity) {
      for (std::uint64_t key = 0; key < 10; ++key) {
        EXPECT_GT(mean(corrupted(name, severity, key, kColour, dark)), 42) << name << severity;
      }
    }
  }
}

TEST(CorruptionEffects, FogKeepsTheLightestAndFillsTheDark) {
  // max becomes at most max (max + amount) / (max + amount); black becomes cloud.
  Image image(kGrey.size(), 0);
  image[400] = 200;
  for (int severity = 1; severity <= 5; ++severity) {
    const Image out = corrupted("fog", severity, 2, kGrey, image);
    EXPECT_LE(*std::max_element(out.begin(), out.end()), 200);
    EXPECT_GT(mean(out), mean(image) + 5);
  }
  // Without any light there is nothing to see in fog, either.
  EXPECT_EQ(corrupted("fog", 5, 2, kGrey, Image(784, 0)), Image(784, 0));
}

TEST(CorruptionParts, PlasmaFillsItsRange) {
  for (const auto& [height, width] : {std::pair{4, 4}, {28, 28}, {33, 17}, {2, 5}}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Draws draws({.seed = seed, .purpose = Purpose::kCorruption});
      const Plane cloud = plasma(draws, height, width, 2);
      double low = 9;
      double high = -9;
      for (const float value : cloud) {
        low = std::min(low, static_cast<double>(value));
        high = std::max(high, static_cast<double>(value));
      }
      EXPECT_EQ(low, 0);
      EXPECT_EQ(high, 1);
    }
  }
}

TEST(CorruptionParts, SamplesBetweenPixels) {
  Plane plane(2, 3);
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 3; ++x) plane(y, x) = static_cast<float>(10 * y + x);
  }
  EXPECT_EQ(sample(plane, 0, 0), 0);
  EXPECT_EQ(sample(plane, 1, 2), 12);
  EXPECT_EQ(sample(plane, 0.5, 1.5), 6.5F);
  EXPECT_EQ(sample(plane, -7, 99), 2);
}

}  // namespace
}  // namespace boba::testing
