#include "simulator/torch/example_tensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "boba/core/random.h"
#include "boba/threads/team.h"
#include "simulator/data/corruption.h"

namespace boba::sim {
namespace {

using torch::Tensor;

// Where corruption draws its numbers: the same example is corrupted differently at the server.
constexpr std::uint32_t kClients = 0;
constexpr std::uint32_t kServer = 1;

// What a byte of a channel becomes.
using Levels = std::vector<std::array<float, 256>>;

Levels levels_of(const Dataset& dataset) {
  Levels levels(dataset.image.channels);
  for (std::size_t k = 0; k < levels.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      levels[k][byte] = static_cast<float>((static_cast<double>(byte) / 255.0 - dataset.mean[k]) /
                                           dataset.deviation[k]);
    }
  }
  return levels;
}

// What is common to all examples of a set.
struct Source {
  const Dataset& dataset;
  const Examples& examples;
  Levels levels;
  bool channels_last = false;
  std::uint64_t seed = 0;
};

struct Corruption {
  std::string name;  // "" for none
  int severity = 3;
  std::uint32_t place = kClients;
};

Tensor empty_inputs(const Source& source, std::size_t count) {
  const auto n = static_cast<std::int64_t>(count);
  if (source.dataset.kind == DataKind::kText) {
    return torch::empty({n, static_cast<std::int64_t>(source.dataset.length)}, torch::kLong);
  }
  const ImageShape& image = source.dataset.image;
  const auto channels = static_cast<std::int64_t>(image.channels);
  const auto height = static_cast<std::int64_t>(image.height);
  const auto width = static_cast<std::int64_t>(image.width);
  if (!source.channels_last) return torch::empty({n, channels, height, width});
  return torch::empty({n, height, width, channels}).permute({0, 3, 1, 2});
}

void write_image(const Source& source, std::span<const std::uint8_t> pixels, float* out) {
  const ImageShape& image = source.dataset.image;
  const std::size_t plane = image.height * image.width;
  for (std::size_t k = 0; k < image.channels; ++k) {
    const auto& level = source.levels[k];
    float* const to = source.channels_last ? out + k : out + k * plane;
    const std::size_t stride = source.channels_last ? image.channels : 1;
    for (std::size_t i = 0; i < plane; ++i) to[i * stride] = level[pixels[k * plane + i]];
  }
}

// Fills rows first, first + 1, ... of the tensors with the examples.
void fill(const Source& source, std::span<const std::uint32_t> examples,
          const Corruption& corruption, std::size_t first, const ExampleTensors& to) {
  const std::size_t size = source.dataset.image.size();
  std::vector<std::uint8_t> changed;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::size_t example = examples[i];
    const std::size_t row = first + i;
    to.labels.data_ptr<std::int64_t>()[row] = source.examples.labels[example];
    if (source.dataset.kind == DataKind::kText) {
      const std::size_t length = source.dataset.length;
      std::copy_n(source.examples.words.data() + example * length, length,
                  to.inputs.data_ptr<std::int64_t>() + row * length);
      continue;
    }
    std::span<const std::uint8_t> pixels(source.examples.pixels.data() + example * size, size);
    if (!corruption.name.empty()) {
      changed.assign(pixels.begin(), pixels.end());
      corrupt(corruption.name, corruption.severity,
              {.seed = source.seed,
               .round = corruption.place,
               .client = static_cast<std::uint32_t>(example),
               .purpose = Purpose::kCorruption},
              source.dataset.image, changed);
      pixels = changed;
    }
    write_image(source, pixels, to.inputs.data_ptr<float>() + row * size);
  }
}

ExampleTensors empty_tensors(const Source& source, std::size_t count) {
  return {empty_inputs(source, count),
          torch::empty({static_cast<std::int64_t>(count)}, torch::kLong)};
}

ExampleTensors rows_of(const ExampleTensors& all, std::size_t first, std::size_t count) {
  const auto begin = static_cast<std::int64_t>(first);
  const auto size = static_cast<std::int64_t>(count);
  return {all.inputs.narrow(0, begin, size), all.labels.narrow(0, begin, size)};
}

// All shards of a list in one tensor, and a view of each.
struct Joined {
  ExampleTensors whole;
  std::vector<ExampleTensors> each;
};

Joined join_examples(const Source& source, const std::vector<ShardPlan>& plans, int severity,
                     std::uint32_t place, int threads) {
  std::vector<std::size_t> first(plans.size() + 1, 0);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    first[i + 1] = first[i] + plans[i].examples.size();
  }
  Joined joined;
  joined.whole = empty_tensors(source, first.back());
  run_jobs(threads, plans.size(), [&](std::size_t i, int /*member*/) {
    fill(source, plans[i].examples, {plans[i].corruption, severity, place}, first[i], joined.whole);
  });
  for (std::size_t i = 0; i < plans.size(); ++i) {
    joined.each.push_back(rows_of(joined.whole, first[i], plans[i].examples.size()));
  }
  return joined;
}

std::vector<ExampleTensors> flip_labels(const ResolvedExperiment& experiment,
                                        const Dataset& dataset,
                                        const std::vector<ExampleTensors>& honest) {
  std::vector<ExampleTensors> flipped;
  for (int j = 0; j < experiment.federation.byzantine; ++j) {
    const ExampleTensors& source =
        honest[flipped_source(static_cast<std::size_t>(j), honest.size())];
    ExampleTensors changed{source.inputs, source.labels.clone()};
    auto* const labels = changed.labels.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < changed.labels.numel(); ++i) {
      labels[i] = static_cast<std::int64_t>(
          experiment.label_flip->flip(static_cast<std::size_t>(labels[i]), dataset.classes.size()));
    }
    flipped.push_back(std::move(changed));
  }
  return flipped;
}

}  // namespace

FederationTensors make_tensors(const ResolvedExperiment& experiment, const Dataset& dataset,
                               const FederationPlan& plan, bool channels_last, int threads) {
  const Levels levels = dataset.kind == DataKind::kImages ? levels_of(dataset) : Levels{};
  const Source train{dataset, dataset.train, levels, channels_last, experiment.seed};
  FederationTensors tensors;
  Joined honest = join_examples(train, plan.honest, experiment.data.severity, kClients, threads);
  tensors.honest = std::move(honest.each);
  tensors.all_honest = std::move(honest.whole);
  if (plan.flipped) tensors.flipped = flip_labels(experiment, dataset, tensors.honest);
  if (!plan.server.empty()) {
    Joined server = join_examples(train, plan.server, experiment.server.severity, kServer, threads);
    tensors.server = std::move(server.each);
    tensors.server_whole = std::move(server.whole);
  }
  const Source test{dataset, dataset.test, levels, channels_last, experiment.seed};
  tensors.test = empty_tensors(test, plan.test.size());
  fill(test, plan.test, {}, 0, tensors.test);
  return tensors;
}

}  // namespace boba::sim
