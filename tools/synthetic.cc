#include "tools/synthetic.h"

#include <cmath>

namespace boba::tools {
namespace {

// Streams of one seed: classes from 0 on, then server rows, then clients.
constexpr std::uint32_t kServerStream = 1U << 20;
constexpr std::uint32_t kClientStream = 1U << 21;
constexpr std::uint32_t kShareStream = 1U << 30;

StreamKey stream(const SyntheticOptions& options, std::uint32_t first, std::size_t i) {
  return {options.seed, 0, first + static_cast<std::uint32_t>(i), options.purpose};
}

// Shares of client i: two classes, so that all pairs occur about equally often, the first with a
// share between 0.3 and 0.7.
std::vector<double> label_mix(const SyntheticOptions& options, std::size_t i) {
  const std::size_t c = options.classes;
  const std::size_t first = i % c;
  const std::size_t second = c == 1 ? 0 : (first + 1 + i / c % (c - 1)) % c;
  const double share = 0.3 + 0.4 * uniform_at(stream(options, kShareStream, 0), i);
  std::vector<double> mix(c, 0.0);
  mix[first] += share;
  mix[second] += 1 - share;
  return mix;
}

}  // namespace

SyntheticRound make_synthetic(const Kernels& kernels, const SyntheticOptions& options) {
  const std::size_t c = options.classes;
  // A vector of independent normal numbers with this deviation has about norm 1.
  const double unit = 1 / std::sqrt(static_cast<double>(options.length));
  // Row c is the common part.
  UpdateMatrix classes(DType::kFloat32, c + 1, options.length);
  for (std::size_t z = 0; z <= c; ++z) {
    const double place = c == 1 ? 0.5 : static_cast<double>(z) / static_cast<double>(c - 1);
    const double size = z == c ? options.common : 0.5 + place;
    kernels.normal(stream(options, 0, z), size * unit, classes.row(z));
  }
  SyntheticRound round{
      UpdateMatrix(DType::kFloat32, options.honest + options.byzantine, options.length),
      UpdateMatrix(DType::kFloat32, c, options.length)};
  const auto fill = [&](const StreamKey& key, std::vector<double> mix, MutableRow row) {
    mix.push_back(1);
    kernels.normal(key, options.noise * unit, row);
    kernels.combine(classes.view(), mix, 1, row);
  };
  for (std::size_t z = 0; z < c; ++z) {
    std::vector<double> mix(c, 0.0);
    mix[z] = 1;
    fill(stream(options, kServerStream, z), mix, round.server.row(z));
  }
  for (std::size_t i = 0; i < options.honest; ++i) {
    fill(stream(options, kClientStream, i), label_mix(options, i), round.updates.row(i));
  }
  return round;
}

std::vector<double> mean_weights(std::size_t n) {
  return std::vector<double>(n, 1 / static_cast<double>(n));
}

}  // namespace boba::tools
