// Noise: every number of the image is changed on its own.
#include <array>

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

}  // namespace boba::sim
