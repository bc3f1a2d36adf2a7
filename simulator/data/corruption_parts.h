// What the corruptions share: an image as planes of numbers, random numbers in order, and the few
// operations that several of them are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <opencv2/core.hpp>
#include <vector>

#include "boba/core/random.h"

namespace boba::sim {

using Plane = cv::Mat_<float>;

// An image being changed: one plane for each channel (red, green, blue, or grey alone), all of the
// same size, with values in [0, 1]. Effects may leave that range; corrupt() cuts at its ends.
using Planes = std::vector<Plane>;

// The numbers of a key, one after another. An image is changed by one thread, so their order is
// fixed.
class Draws {
 public:
  explicit Draws(const StreamKey& key) : key_(key) {}

  double uniform() { return uniform_at(key_, next_++); }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  double normal() { return normal_at(key_, next_++); }
  // Poisson with the mean; 0 for a mean of 0. REQUIRES: 0 <= mean, finite.
  double poisson(double mean);

 private:
  StreamKey key_;
  std::uint64_t next_ = 0;
};

// One corruption at a severity from 1 to 5.
using Effect = void (*)(int severity, Draws& draws, Planes& planes);

void gaussian_noise(int severity, Draws& draws, Planes& planes);
void shot_noise(int severity, Draws& draws, Planes& planes);
void impulse_noise(int severity, Draws& draws, Planes& planes);
void speckle_noise(int severity, Draws& draws, Planes& planes);

void defocus_blur(int severity, Draws& draws, Planes& planes);
void glass_blur(int severity, Draws& draws, Planes& planes);
void motion_blur(int severity, Draws& draws, Planes& planes);
void zoom_blur(int severity, Draws& draws, Planes& planes);

void snow(int severity, Draws& draws, Planes& planes);
void frost(int severity, Draws& draws, Planes& planes);
void fog(int severity, Draws& draws, Planes& planes);

void brightness(int severity, Draws& draws, Planes& planes);
void contrast(int severity, Draws& draws, Planes& planes);
void elastic_transform(int severity, Draws& draws, Planes& planes);
void pixelate(int severity, Draws& draws, Planes& planes);
void jpeg_compression(int severity, Draws& draws, Planes& planes);

// The value at a place between pixels, linear in both directions; beyond the border, the nearest
// pixel's.
float sample(const Plane& plane, double y, double x);

// The plane enlarged about its centre. REQUIRES: factor >= 1.
Plane zoomed(const Plane& plane, double factor);

// A Gaussian blur; sigma 0 leaves the plane as it is.
Plane smoothed(const Plane& plane, double sigma);

// A blur along a line to one side: weights exp(-i^2 / (2 sigma^2)) at i = 0 .. 2 radius steps of
// one pixel in the direction of the angle, in degrees.
Plane streaked(const Plane& plane, int radius, double sigma, double angle);

// A cloud with values from 0 to 1: midpoint displacement (diamond-square) that wraps around, where
// each level moves the points by 1 / decay of the one before.
Plane plasma(Draws& draws, int height, int width, double decay);

// Brightness as the eye has it: 0.299 red + 0.587 green + 0.114 blue; of grey, itself.
Plane luminance(const Planes& planes);

}  // namespace boba::sim
