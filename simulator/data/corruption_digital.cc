// Changes of light, form and resolution.
#include <algorithm>
#include <array>
#include <opencv2/imgproc.hpp>

#include "simulator/data/corruption_parts.h"

namespace boba::sim {
namespace {

// The affine map that takes each of three points to where it came from, as x and y rows of factors
// of (x, y, 1).
cv::Matx23d shaken_corners(Draws& draws, int rows, int cols, double by) {
  const float x0 = 0.5F * static_cast<float>(cols - 1);
  const float y0 = 0.5F * static_cast<float>(rows - 1);
  const float side = static_cast<float>(std::min(rows, cols)) / 3;
  const std::array<cv::Point2f, 3> from = {cv::Point2f(x0 + side, y0 + side),
                                           cv::Point2f(x0 + side, y0 - side),
                                           cv::Point2f(x0 - side, y0 - side)};
  std::array<cv::Point2f, 3> to = from;
  for (cv::Point2f& point : to) {
    point.x += static_cast<float>(draws.between(-by, by));
    point.y += static_cast<float>(draws.between(-by, by));
  }
  return cv::getAffineTransform(to.data(), from.data());
}

// A smooth random displacement of the pixels in one direction.
Plane wobble(Draws& draws, int rows, int cols, double size, double sigma) {
  Plane field(rows, cols);
  for (float& value : field) value = static_cast<float>(draws.between(-1, 1));
  return Plane(size * smoothed(field, sigma));
}

}  // namespace

void brightness(int severity, Draws&, Planes& planes) {
  // The value of hue-saturation-value rises; hue and saturation stay, so channels keep their ratio.
  constexpr std::array kRise = {0.05F, 0.10F, 0.15F, 0.20F, 0.30F};
  const float rise = kRise[static_cast<std::size_t>(severity - 1)];
  for (int y = 0; y < planes[0].rows; ++y) {
    for (int x = 0; x < planes[0].cols; ++x) {
      float value = 0;
      for (const Plane& plane : planes) value = std::max(value, plane(y, x));
      const float raised = std::min(value + rise, 1.0F);
      for (Plane& plane : planes) {
        plane(y, x) = value > 0 ? plane(y, x) * (raised / value) : raised;
      }
    }
  }
}

void contrast(int severity, Draws&, Planes& planes) {
  constexpr std::array kFactor = {0.75, 0.50, 0.40, 0.30, 0.15};
  const double factor = kFactor[static_cast<std::size_t>(severity - 1)];
  for (Plane& plane : planes) {
    const double mean = cv::mean(plane)[0];
    for (float& value : plane) value = static_cast<float>((value - mean) * factor + mean);
  }
}

void elastic_transform(int severity, Draws& draws, Planes& planes) {
  // All in sides of the image.
  struct Setting {
    double size = 0;   // of the displacement before it is smoothed
    double sigma = 0;  // of the smoothing
    double shake = 0;  // of the three points that fix an affine map
  };
  constexpr std::array<Setting, 5> kSettings = {{{0, 0, 0.04},
                                                 {0.05, 0.20, 0.05},
                                                 {0.08, 0.06, 0.06},
                                                 {0.10, 0.04, 0.07},
                                                 {0.10, 0.03, 0.08}}};
  const Setting setting = kSettings[static_cast<std::size_t>(severity - 1)];
  const int rows = planes[0].rows;
  const int cols = planes[0].cols;
  const double side = std::min(rows, cols);
  const cv::Matx23d back = shaken_corners(draws, rows, cols, setting.shake * side);
  const Plane right = wobble(draws, rows, cols, setting.size * side, setting.sigma * side);
  const Plane down = wobble(draws, rows, cols, setting.size * side, setting.sigma * side);
  for (Plane& plane : planes) {
    Plane out(rows, cols);
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < cols; ++x) {
        const double u = x + double{right(y, x)};
        const double v = y + double{down(y, x)};
        out(y, x) = sample(plane, back(1, 0) * u + back(1, 1) * v + back(1, 2),
                           back(0, 0) * u + back(0, 1) * v + back(0, 2));
      }
    }
    plane = out;
  }
}

void pixelate(int severity, Draws&, Planes& planes) {
  constexpr std::array kScale = {0.95, 0.90, 0.85, 0.75, 0.65};
  const double scale = kScale[static_cast<std::size_t>(severity - 1)];
  for (Plane& plane : planes) {
    const cv::Size full = plane.size();
    const cv::Size small(std::max(static_cast<int>(full.width * scale), 1),
                         std::max(static_cast<int>(full.height * scale), 1));
    Plane coarse;
    Plane out;
    cv::resize(plane, coarse, small, 0, 0, cv::INTER_AREA);
    cv::resize(coarse, out, full, 0, 0, cv::INTER_NEAREST_EXACT);
    plane = out;
  }
}

}  // namespace boba::sim
