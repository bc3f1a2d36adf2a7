// All corruptions but JPEG: noise, blur, weather, and changes of light, form and resolution.

#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "simulator/data/corruption_parts.h"

namespace boba::sim {
namespace {

// change(value) for every number of every plane, in order.
template <class Change>
void each_value(Planes& planes, Change&& change) {
  for (Plane& plane : planes) {
    for (float& value : plane) value = static_cast<float>(change(static_cast<double>(value)));
  }
}

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

void gaussian_noise(int severity, Draws& draws, Planes& planes) {
  constexpr std::array kSigma = {0.04, 0.06, 0.08, 0.09, 0.10};
  const double sigma = kSigma[static_cast<std::size_t>(severity - 1)];
  each_value(planes, [&](double x) { return x + sigma * draws.normal(); });
}

void shot_noise(int severity, Draws& draws, Planes& planes) {
  // Photons that make a full pixel.
  constexpr std::array kPhotons = {500.0, 250.0, 100.0, 75.0, 50.0};
  const double photons = kPhotons[static_cast<std::size_t>(severity - 1)];
  each_value(planes, [&](double x) { return draws.poisson(x * photons) / photons; });
}

void impulse_noise(int severity, Draws& draws, Planes& planes) {
  constexpr std::array kAmount = {0.01, 0.02, 0.03, 0.05, 0.07};
  const double amount = kAmount[static_cast<std::size_t>(severity - 1)];
  each_value(planes, [&](double x) {
    const double u = draws.uniform();
    return u >= amount ? x : u < amount / 2 ? 0.0 : 1.0;
  });
}

void speckle_noise(int severity, Draws& draws, Planes& planes) {
  constexpr std::array kSigma = {0.06, 0.10, 0.12, 0.16, 0.20};
  const double sigma = kSigma[static_cast<std::size_t>(severity - 1)];
  each_value(planes, [&](double x) { return x + x * sigma * draws.normal(); });
}

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
