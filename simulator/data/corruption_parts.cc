#include "simulator/data/corruption_parts.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <opencv2/imgproc.hpp>

namespace boba::sim {
namespace {

// Stirling's series of log(k!); off by 3e-4 at k = 0 and by less than 1e-9 from k = 10 on.
double log_factorial(double k) {
  const double x = k + 1;
  return (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * std::numbers::pi) + 1 / (12 * x) -
         1 / (360 * x * x * x);
}

// How many steps of the distribution function lie below u.
double poisson_by_steps(double mean, double u) {
  double k = 0;
  double term = std::exp(-mean);
  // A mean below 10 never comes near 200; the bound only ends the loop whatever rounding does.
  for (double sum = term; u > sum && k < 200; sum += term) term *= mean / ++k;
  return k;
}

}  // namespace

// W. Hörmann. The transformed rejection method for generating Poisson random variables. Insurance:
// Mathematics and Economics 12, 1993 (algorithm PTRS).
double Draws::poisson(double mean) {
  assert(mean >= 0);
  if (mean < 10) return poisson_by_steps(mean, uniform());
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double quick = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = uniform() - 0.5;
    const double v = uniform();
    const double edge = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / edge + b) * u + mean + 0.43);
    if (edge >= 0.07 && v <= quick) return k;
    if (k < 0 || (edge < 0.013 && v > edge)) continue;
    if (std::log(v * inverse_alpha / (a / (edge * edge) + b)) <=
        k * std::log(mean) - mean - log_factorial(k)) {
      return k;
    }
  }
}

float sample(const Plane& plane, double y, double x) {
  y = std::clamp(y, 0.0, static_cast<double>(plane.rows - 1));
  x = std::clamp(x, 0.0, static_cast<double>(plane.cols - 1));
  const int top = static_cast<int>(y);
  const int left = static_cast<int>(x);
  const int bottom = std::min(top + 1, plane.rows - 1);
  const int right = std::min(left + 1, plane.cols - 1);
  const double v = y - top;
  const double h = x - left;
  const double upper = plane(top, left) * (1 - h) + plane(top, right) * h;
  const double lower = plane(bottom, left) * (1 - h) + plane(bottom, right) * h;
  return static_cast<float>(upper * (1 - v) + lower * v);
}

Plane zoomed(const Plane& plane, double factor) {
  const double y0 = 0.5 * (plane.rows - 1);
  const double x0 = 0.5 * (plane.cols - 1);
  Plane out(plane.rows, plane.cols);
  for (int y = 0; y < plane.rows; ++y) {
    for (int x = 0; x < plane.cols; ++x) {
      out(y, x) = sample(plane, y0 + (y - y0) / factor, x0 + (x - x0) / factor);
    }
  }
  return out;
}

Plane smoothed(const Plane& plane, double sigma) {
  if (sigma == 0) return plane;
  Plane out;
  cv::GaussianBlur(plane, out, cv::Size(0, 0), sigma, sigma, cv::BORDER_REPLICATE);
  return out;
}

Plane streaked(const Plane& plane, int radius, double sigma, double angle) {
  const double dx = std::cos(angle * std::numbers::pi / 180);
  const double dy = std::sin(angle * std::numbers::pi / 180);
  Plane out(plane.rows, plane.cols, 0.0F);
  double total = 0;
  for (int i = 0; i <= 2 * radius; ++i) total += std::exp(-0.5 * i * i / (sigma * sigma));
  for (int i = 0; i <= 2 * radius; ++i) {
    const auto weight = static_cast<float>(std::exp(-0.5 * i * i / (sigma * sigma)) / total);
    const int down = static_cast<int>(std::lround(i * dy));
    const int right = static_cast<int>(std::lround(i * dx));
    for (int y = 0; y < plane.rows; ++y) {
      const float* from = plane[std::clamp(y + down, 0, plane.rows - 1)];
      for (int x = 0; x < plane.cols; ++x) {
        out(y, x) += weight * from[std::clamp(x + right, 0, plane.cols - 1)];
      }
    }
  }
  return out;
}

Plane plasma(Draws& draws, int height, int width, double decay) {
  int n = 2;
  while (n < std::max(height, width)) n *= 2;
  Plane map(n, n, 0.0F);
  const auto at = [&](int y, int x) { return map((y + n) % n, (x + n) % n); };
  double scale = 1;
  for (int step = n; step > 1; step /= 2, scale /= decay) {
    const int half = step / 2;
    const auto moved = [&](float sum) {
      return sum / 4 + static_cast<float>(scale * draws.between(-1, 1));
    };
    // Centres of squares from their corners, then centres of edges from what lies around them.
    for (int y = half; y < n; y += step) {
      for (int x = half; x < n; x += step) {
        map(y, x) = moved(at(y - half, x - half) + at(y - half, x + half) + at(y + half, x - half) +
                          at(y + half, x + half));
      }
    }
    for (int y = 0; y < n; y += half) {
      for (int x = (y / half) % 2 == 0 ? half : 0; x < n; x += step) {
        map(y, x) = moved(at(y - half, x) + at(y + half, x) + at(y, x - half) + at(y, x + half));
      }
    }
  }
  const Plane part = map(cv::Rect(0, 0, width, height)).clone();
  double low = 0;
  double high = 0;
  cv::minMaxLoc(part, &low, &high);
  Plane out(height, width);
  const double range = std::max(high - low, 1e-12);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) out(y, x) = static_cast<float>((part(y, x) - low) / range);
  }
  return out;
}

Plane luminance(const Planes& planes) {
  if (planes.size() < 3) return planes[0].clone();
  return Plane(0.299 * planes[0] + 0.587 * planes[1] + 0.114 * planes[2]);
}

}  // namespace boba::sim
