// Blur: every number becomes a mean of those around it.
#include <algorithm>
#include <array>
#include <opencv2/imgproc.hpp>

#include "simulator/data/corruption_parts.h"

namespace boba::sim {
namespace {

// A disk of the radius, its edge softened, as a kernel of sum 1. REQUIRES: radius < 2.
Plane disk(double radius, double softness) {
  Plane kernel(5, 5);
  for (int y = -2; y <= 2; ++y) {
    for (int x = -2; x <= 2; ++x) {
      kernel(y + 2, x + 2) = x * x + y * y <= radius * radius ? 1.0F : 0.0F;
    }
  }
  cv::GaussianBlur(kernel, kernel, cv::Size(3, 3), softness, softness, cv::BORDER_CONSTANT);
  return Plane(kernel / cv::sum(kernel)[0]);
}

// -1, 0 or 1.
int step_aside(Draws& draws) { return static_cast<int>(draws.between(0, 3)) - 1; }

}  // namespace

void defocus_blur(int severity, Draws&, Planes& planes) {
  struct Setting {
    double radius = 0;
    double softness = 0;
  };
  constexpr std::array<Setting, 5> kSettings = {
      {{0.3, 0.4}, {0.4, 0.5}, {0.5, 0.6}, {1.0, 0.2}, {1.5, 0.1}}};
  const Setting setting = kSettings[static_cast<std::size_t>(severity - 1)];
  const Plane kernel = disk(setting.radius, setting.softness);
  for (Plane& plane : planes) {
    Plane out;
    cv::filter2D(plane, out, CV_32F, kernel, cv::Point(-1, -1), 0, cv::BORDER_REPLICATE);
    plane = out;
  }
}

void glass_blur(int severity, Draws& draws, Planes& planes) {
  constexpr double kSigma = 0.4;
  struct Setting {
    double share = 0;  // of the pixels that are replaced
    int turns = 0;
  };
  constexpr std::array<Setting, 5> kSettings = {{{0.33, 1}, {0.67, 1}, {1, 1}, {1, 2}, {1, 3}}};
  const Setting setting = kSettings[static_cast<std::size_t>(severity - 1)];
  for (Plane& plane : planes) plane = smoothed(plane, kSigma);
  const int rows = planes[0].rows;
  const int cols = planes[0].cols;
  for (int turn = 0; turn < setting.turns; ++turn) {
    // A pixel becomes one that was at most one away before the turn: nothing moves further.
    Planes before;
    for (const Plane& plane : planes) before.push_back(plane.clone());
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < cols; ++x) {
        if (draws.uniform() >= setting.share) continue;
        const int from_y = std::clamp(y + step_aside(draws), 0, rows - 1);
        const int from_x = std::clamp(x + step_aside(draws), 0, cols - 1);
        for (std::size_t k = 0; k < planes.size(); ++k) planes[k](y, x) = before[k](from_y, from_x);
      }
    }
  }
  for (Plane& plane : planes) plane = smoothed(plane, kSigma);
}

void motion_blur(int severity, Draws& draws, Planes& planes) {
  struct Setting {
    int radius = 0;
    double sigma = 0;
  };
  constexpr std::array<Setting, 5> kSettings = {
      {{6, 1.0}, {6, 1.5}, {6, 2.0}, {8, 2.25}, {9, 2.5}}};
  const Setting setting = kSettings[static_cast<std::size_t>(severity - 1)];
  const double angle = draws.between(-45, 45);
  for (Plane& plane : planes) plane = streaked(plane, setting.radius, setting.sigma, angle);
}

void zoom_blur(int severity, Draws&, Planes& planes) {
  // The mean of the image at zooms 1, 1.01, 1.02, ... with the image itself once more.
  const int steps = 5 * severity + 1;
  for (Plane& plane : planes) {
    Plane sum = plane.clone();
    for (int k = 0; k < steps; ++k) sum += zoomed(plane, 1 + 0.01 * k);
    plane = sum / (steps + 1);
  }
}

}  // namespace boba::sim
