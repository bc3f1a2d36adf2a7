#include "tests/support/sim_experiments.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>

#include "boba/core/random.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

constexpr std::size_t kWords = 12;  // of each class, after the two that mean nothing
constexpr std::size_t kVectorLength = 5;

void add_image(Examples& examples, const ImageShape& shape, std::size_t label, std::uint32_t id) {
  const StreamKey key{.seed = 7, .client = id, .purpose = Purpose::kData};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const double pattern = 128 + 90 * std::sin(static_cast<double>((label + 1) * (i + 3)));
    const double value = pattern + 25 * normal_at(key, i);
    examples.pixels.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
  }
  examples.labels.push_back(static_cast<std::uint8_t>(label));
}

void add_text(Examples& examples, std::size_t length, std::size_t label, std::uint32_t id) {
  const StreamKey key{.seed = 8, .client = id, .purpose = Purpose::kData};
  const std::size_t words = 2 + id % (length - 2);
  for (std::size_t i = 0; i < length; ++i) {
    const auto word = static_cast<std::int32_t>(
        2 + label * kWords + static_cast<std::size_t>(uniform_at(key, i) * kWords));
    examples.words.push_back(i < words ? word : kNoWord);
  }
  examples.labels.push_back(static_cast<std::uint8_t>(label));
}

}  // namespace

Dataset small_images(std::size_t classes, ImageShape shape, std::size_t per_class) {
  Dataset set;
  set.name = "small";
  set.image = shape;
  set.mean.assign(shape.channels, 0.5);
  set.deviation.assign(shape.channels, 0.25);
  set.checksum = "small images";
  std::uint32_t id = 0;
  for (std::size_t z = 0; z < classes; ++z)
    set.classes.push_back(std::string(1, static_cast<char>('a' + z)));
  for (std::size_t k = 0; k < per_class; ++k) {
    for (std::size_t z = 0; z < classes; ++z) {
      add_image(set.train, shape, z, id++);
      add_image(set.test, shape, z, id++);
    }
  }
  return set;
}

Dataset small_texts(std::size_t classes, std::size_t length, std::size_t per_class) {
  Dataset set;
  set.name = "texts";
  set.kind = DataKind::kText;
  set.length = length;
  set.vector_length = kVectorLength;
  set.checksum = "small texts";
  const StreamKey key{.seed = 9, .purpose = Purpose::kData};
  set.vectors.assign((2 + classes * kWords) * kVectorLength, 0.0F);
  for (std::size_t i = 2 * kVectorLength; i < set.vectors.size(); ++i) {
    set.vectors[i] = static_cast<float>(normal_at(key, i));
  }
  std::uint32_t id = 0;
  for (std::size_t z = 0; z < classes; ++z)
    set.classes.push_back(std::string(1, static_cast<char>('a' + z)));
  for (std::size_t k = 0; k < per_class; ++k) {
    for (std::size_t z = 0; z < classes; ++z) {
      add_text(set.train, length, z, id++);
      add_text(set.test, length, z, id++);
    }
  }
  return set;
}

Dataset small_dataset() { return small_images(3, {.channels = 1, .height = 5, .width = 5}, 36); }

Experiment small_experiment() {
  Experiment e;
  e.rule = "boba(f=2)";
  e.attack = "ipm";
  e.seed = 5;
  e.data.set = "synthetic";
  e.data.partition = "pairs";
  e.model.kind = "mlp(width=8,depth=1)";
  e.training.rounds = 6;
  e.training.learning_rate = 0.2;
  e.federation.honest = 9;
  e.federation.byzantine = 2;
  e.server.per_class = 4;
  e.run.evaluate_every = 2;
  return e;
}

std::vector<double> server_losses(Trainer& trainer, const std::vector<std::vector<float>>& points) {
  std::vector<double> losses(points.size());
  const std::vector<std::span<const float>> rows(points.begin(), points.end());
  const Result<void> done = trainer.server_losses(rows, losses);
  if (!done) throw std::runtime_error(done.error().message);
  return losses;
}

}  // namespace boba::test
