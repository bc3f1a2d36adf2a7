#include "tests/hunt/mutate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tests/hunt/generate.h"

namespace boba::hunt {
namespace {

double power(Dice& dice) {
  const double exponent = dice.chance(0.5) ? dice.uniform(-1, 1) : dice.uniform(-8, 8);
  return std::pow(10, exponent) * (dice.chance(0.2) ? -1 : 1);
}

// The column where the row is largest, or any.
std::size_t some_column(Dice& dice, const Row& row) {
  if (dice.chance(0.5)) return pick_column(dice, row.size());
  const auto largest = std::max_element(
      row.begin(), row.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  return static_cast<std::size_t>(largest - row.begin());
}

void change_row(Dice& dice, Scene& scene, const std::vector<std::size_t>& liars) {
  Row& row = scene.updates[dice.pick(liars)];
  switch (dice.below(7)) {
    case 0: {  // away from the honest mean, or towards it
      const Honest honest = honest_part(scene);
      const double factor = power(dice);
      for (std::size_t k = 0; k < row.size(); ++k) {
        row[k] = honest.mean[k] + factor * (row[k] - honest.mean[k]);
      }
      return;
    }
    case 1: {
      const double factor = power(dice);
      for (double& x : row) x *= factor;
      return;
    }
    case 2:
      row[some_column(dice, row)] *= power(dice);
      return;
    case 3:
      std::swap(row[some_column(dice, row)], row[pick_column(dice, row.size())]);
      return;
    case 4:
      row[pick_column(dice, row.size())] +=
          pick_size(dice, scene, honest_part(scene).spread) * (dice.chance(0.5) ? 1 : -1);
      return;
    case 5: {  // as another liar, or its mirror image
      const Row other = scene.updates[dice.pick(liars)];
      row = other;
      if (dice.chance(0.5)) {
        for (double& x : row) x = -x;
      }
      return;
    }
    default:
      row[some_column(dice, row)] *= 1 + std::pow(10, dice.uniform(-7, -0.5));
  }
}

void add_liar(Dice& dice, Scene& scene, const std::vector<std::size_t>& liars) {
  std::vector<std::size_t> honest;
  for (std::size_t i = 0; i < scene.liar.size(); ++i) {
    if (!scene.liar[i]) honest.push_back(i);
  }
  const std::size_t turned = dice.pick(honest);
  scene.liar[turned] = true;
  scene.updates[turned] = scene.updates[dice.pick(liars)];
}

void cut(Dice& dice, Scene& scene) {
  if (scene.length() < 20) return;
  const std::size_t length = dice.chance(0.5) ? 17 : dice.between(17, scene.length());
  for (Rows* rows : {&scene.updates, &scene.server}) {
    for (Row& row : *rows) row.resize(length);
  }
  for (Row* row : {&scene.model, &scene.curvature, &scene.centre}) row->resize(length);
  scene.backend = Backend::kOneThread;
}

void change_type(Scene& scene) {
  scene.dtype = scene.dtype == DType::kFloat32 ? DType::kFloat64 : DType::kFloat32;
  for (Rows* rows : {&scene.updates, &scene.server}) {
    for (Row& row : *rows) {
      for (double& x : row) x = fitted(x, scene.dtype);
    }
  }
  for (double& x : scene.model) x = fitted(x, scene.dtype);
}

}  // namespace

Scene mutated(Dice& dice, const Scene& scene, std::size_t most) {
  Scene other = scene;
  const std::size_t changes = dice.chance(0.6) ? 1 : dice.between(2, 4);
  for (std::size_t i = 0; i < changes; ++i) {
    std::vector<std::size_t> liars;
    for (std::size_t k = 0; k < other.liar.size(); ++k) {
      if (other.liar[k]) liars.push_back(k);
    }
    const double roll = dice.uniform();
    if (roll < 0.75) {
      change_row(dice, other, liars);
    } else if (roll < 0.80) {
      reorder(dice, other);
    } else if (roll < 0.85) {
      if (liars.size() < most) add_liar(dice, other, liars);
    } else if (roll < 0.90) {
      other.seed = 1 + dice.below(1u << 30);
    } else if (roll < 0.94) {
      if (!other.sketched()) {
        other.backend = dice.chance(0.5) ? Backend::kOneThread : Backend::kOpen;
      }
    } else if (roll < 0.96) {
      change_type(other);
    } else if (roll < 0.98) {
      cut(dice, other);
    } else {
      write_liars(dice, other);
    }
  }
  const double limit = other.dtype == DType::kFloat32 ? 3.4e38 : 1e150;
  for (std::size_t i = 0; i < other.updates.size(); ++i) {
    if (!other.liar[i]) continue;
    for (double& x : other.updates[i]) {
      if (std::isnan(x)) x = 0;
      x = fitted(std::clamp(x, -limit, limit), other.dtype);
    }
  }
  if (!other.story.ends_with("; changed")) other.story += "; changed";
  return other;
}

}  // namespace boba::hunt
