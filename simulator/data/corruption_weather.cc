// Weather: something drawn at random lies over the image.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <opencv2/imgproc.hpp>

#include "simulator/data/corruption_parts.h"

namespace boba::sim {
namespace {

// Ice needles that grow from the border inwards, with side branches at 60 degrees; 0 to 1.
Plane crystals(Draws& draws, int height, int width) {
  constexpr int kBits = 4;  // of a pixel, for ends of lines
  cv::Mat_<std::uint8_t> canvas(height, width, std::uint8_t{0});
  const auto line = [&](double x, double y, double angle, double length, double light) {
    const auto fixed = [](double a) { return static_cast<int>(std::lround(a * (1 << kBits))); };
    const double x1 = x + length * std::cos(angle);
    const double y1 = y + length * std::sin(angle);
    cv::line(canvas, {fixed(x), fixed(y)}, {fixed(x1), fixed(y1)}, cv::Scalar(255 * light), 1,
             cv::LINE_AA, kBits);
  };
  const double side = std::min(height, width);
  const int needles = std::max(4, (height + width) / 5);
  for (int k = 0; k < needles; ++k) {
    // A place on the border, and a direction to somewhere near the middle.
    const double place = draws.uniform();
    const bool upright = draws.uniform() < 0.5;
    const double far = draws.uniform() < 0.5 ? 0.0 : 1.0;
    double x = (upright ? far : place) * (width - 1);
    double y = (upright ? place : far) * (height - 1);
    const double angle =
        std::atan2(draws.between(0.2, 0.8) * height - y, draws.between(0.2, 0.8) * width - x);
    const double length = draws.between(0.2, 0.6) * side;
    line(x, y, angle, length, draws.between(0.6, 1.0));
    for (double along = 2; along < length; along += 2.5) {
      const double branch = 0.4 * (length - along);
      for (const double turn : {-std::numbers::pi / 3, std::numbers::pi / 3}) {
        line(x + along * std::cos(angle), y + along * std::sin(angle), angle + turn,
             branch * draws.between(0.5, 1.0), draws.between(0.4, 0.8));
      }
    }
  }
  Plane out;
  canvas.convertTo(out, CV_32F, 1.0 / 255);
  return out;
}

// A frosted pane: a veil, creases where a rough cloud crosses its middle height, and needles.
Plane frosted_pane(Draws& draws, int height, int width) {
  const Plane veil = plasma(draws, height, width, 2.0);
  const Plane rough = plasma(draws, height, width, 1.5);
  const Plane ice = crystals(draws, height, width);
  Plane pane(height, width);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float crease = 1 - std::abs(2 * rough(y, x) - 1);
      const float value = 0.25F + 0.3F * veil(y, x) + 0.25F * crease * crease + 0.6F * ice(y, x);
      pane(y, x) = std::min(value, 1.0F);
    }
  }
  return pane;
}

}  // namespace

void snow(int severity, Draws& draws, Planes& planes) {
  struct Setting {
    double mean = 0;       // of the flakes' field before the threshold
    double deviation = 0;  // of the same
    double zoom = 0;       // size of a flake
    double threshold = 0;
    int radius = 0;  // of the streaks
    double sigma = 0;
    double keep = 0;  // how much of the image is not whitened
  };
  constexpr std::array<Setting, 5> kSettings = {{{0.10, 0.2, 1.00, 0.60, 8, 3, 0.95},
                                                 {0.10, 0.2, 1.00, 0.50, 10, 4, 0.90},
                                                 {0.15, 0.3, 1.75, 0.55, 10, 4, 0.90},
                                                 {0.25, 0.3, 2.25, 0.60, 12, 6, 0.85},
                                                 {0.30, 0.3, 1.25, 0.65, 14, 12, 0.80}}};
  const Setting setting = kSettings[static_cast<std::size_t>(severity - 1)];
  const int rows = planes[0].rows;
  const int cols = planes[0].cols;
  Plane flakes(rows, cols);
  for (float& value : flakes) {
    value = static_cast<float>(setting.mean + setting.deviation * draws.normal());
  }
  flakes = zoomed(flakes, setting.zoom);
  for (float& value : flakes) {
    value = value < setting.threshold ? 0.0F : std::min(value, 1.0F);
  }
  flakes = streaked(flakes, setting.radius, setting.sigma, draws.between(-135, -45));
  const Plane light = luminance(planes);
  const auto keep = static_cast<float>(setting.keep);
  for (Plane& plane : planes) {
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < cols; ++x) {
        const float white = std::max(plane(y, x), 1.5F * light(y, x) + 0.5F);
        plane(y, x) = keep * plane(y, x) + (1 - keep) * white + flakes(y, x) +
                      flakes(rows - 1 - y, cols - 1 - x);
      }
    }
  }
}

void frost(int severity, Draws& draws, Planes& planes) {
  struct Setting {
    double image = 0;
    double ice = 0;
  };
  constexpr std::array<Setting, 5> kSettings = {
      {{1.0, 0.2}, {1.0, 0.3}, {0.9, 0.4}, {0.85, 0.5}, {0.75, 0.6}}};
  constexpr std::array kTint = {0.86, 0.94, 1.0};  // ice is a little blue
  const Setting setting = kSettings[static_cast<std::size_t>(severity - 1)];
  const Plane pane = frosted_pane(draws, planes[0].rows, planes[0].cols);
  for (std::size_t k = 0; k < planes.size(); ++k) {
    const double tint = planes.size() == 3 ? kTint[k] : 1.0;
    planes[k] = setting.image * planes[k] + setting.ice * tint * pane;
  }
}

void fog(int severity, Draws& draws, Planes& planes) {
  struct Setting {
    double amount = 0;
    double decay = 0;
  };
  constexpr std::array<Setting, 5> kSettings = {
      {{0.2, 3.0}, {0.5, 3.0}, {0.75, 2.5}, {1.0, 2.0}, {1.5, 1.75}}};
  const Setting setting = kSettings[static_cast<std::size_t>(severity - 1)];
  double top = 0;
  for (const Plane& plane : planes) {
    double high = 0;
    cv::minMaxLoc(plane, nullptr, &high);
    top = std::max(top, high);
  }
  // Published code scales a displacement by its decaying size twice.
  const Plane cloud = plasma(draws, planes[0].rows, planes[0].cols, setting.decay * setting.decay);
  for (Plane& plane : planes) {
    plane = (plane + setting.amount * cloud) * (top / (top + setting.amount));
  }
}

}  // namespace boba::sim
