// boba_bench_cuda: time of the rules on a GPU, with the updates in its memory.
//
//   boba_bench_cuda [n] [classes] [f] [d ...]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "boba/core/random.h"
#include "boba/kernels/cuda/cuda.h"
#include "boba/rules/registry.h"

namespace {

using boba::Kernels;
using boba::UpdateMatrix;

[[noreturn]] void stop(const boba::Error& error) {
  std::fprintf(stderr, "boba_bench_cuda: %s\n", error.message.c_str());
  std::exit(1);
}

template <class T>
T need(boba::Result<T> result) {
  if (!result) stop(result.error());
  return *std::move(result);
}

struct Shape {
  std::size_t n = 115;
  std::size_t classes = 10;
  std::size_t f = 16;
  std::size_t d = 0;
};

// Mixtures of two classes' gradients with noise; the last f are -10 times the mean of the rest.
void fill(const Kernels& kernels, const Shape& shape, UpdateMatrix& updates, UpdateMatrix& server) {
  const auto noise = [&](std::uint32_t client, double sigma, boba::MutableRow row) {
    kernels.normal({.seed = 1, .round = 0, .client = client, .purpose = boba::Purpose::kBench},
                   sigma, row);
  };
  for (std::size_t z = 0; z < shape.classes; ++z) {
    noise(static_cast<std::uint32_t>(z), 1, server.row(z));
  }
  const std::size_t honest = shape.n - shape.f;
  for (std::size_t i = 0; i < honest; ++i) {
    std::vector<double> weights(shape.classes, 0.0);
    weights[i % shape.classes] += 0.5;
    weights[(i / shape.classes + i + 1) % shape.classes] += 0.5;
    noise(static_cast<std::uint32_t>(1000 + i), 0.1, updates.row(i));
    kernels.combine(server.view(), weights, 1, updates.row(i));
  }
  boba::RowList rest(updates.view().dtype(), shape.d);
  for (std::size_t i = 0; i < honest; ++i) rest.add(updates.view(), i);
  const std::vector<double> weights(honest, -10.0 / static_cast<double>(honest));
  for (std::size_t i = honest; i < shape.n; ++i) {
    kernels.combine(rest.view(), weights, 0, updates.row(i));
  }
}

double median_ms(const boba::Aggregator& rule, const Kernels& kernels, const boba::Round& round,
                 boba::MutableRow out, std::size_t& accepted) {
  std::vector<double> times;
  for (int repeat = 0; repeat < 13; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    const boba::Verdict verdict = need(rule.aggregate(kernels, round, out));
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (repeat >= 2) times.push_back(time.count());
    accepted = verdict.accepted();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Times of the passes alone.
void run_passes(const Kernels& kernels, const boba::Round& round, boba::MutableRow out) {
  const std::size_t n = round.updates.rows();
  const std::vector<double> weights(n, 1.0 / static_cast<double>(n));
  const auto time = [&](const char* name, const auto& pass) {
    std::vector<double> times;
    for (int repeat = 0; repeat < 13; ++repeat) {
      const auto start = std::chrono::steady_clock::now();
      pass();
      const std::chrono::duration<double, std::milli> spent =
          std::chrono::steady_clock::now() - start;
      if (repeat >= 2) times.push_back(spent.count());
    }
    std::sort(times.begin(), times.end());
    std::printf("%-12s %9.3f\n", name, times[times.size() / 2]);
  };
  std::printf("\n%-12s %9s\n", "pass", "ms");
  time("combine", [&] { kernels.combine(round.updates, weights, 0, out); });
  time("gram", [&] { kernels.gram(round.updates, weights); });
  time("dots", [&] { kernels.dots(round.updates, {}, {}); });
  time("order_mean", [&] { kernels.order_mean(round.updates, nullptr, n / 2, n / 2 + 1, out); });
  time("moments", [&] { kernels.moments(round.updates, 1, 1, out); });
  time("normal", [&] {
    kernels.normal({.seed = 1, .round = 0, .client = 0, .purpose = boba::Purpose::kBench}, 1, out);
  });
}

void run(const Kernels& kernels, const Shape& shape) {
  using boba::DType;
  UpdateMatrix updates = kernels.make_rows(DType::kFloat32, shape.n, shape.d);
  UpdateMatrix server = kernels.make_rows(DType::kFloat32, shape.classes, shape.d);
  UpdateMatrix out = kernels.make_rows(DType::kFloat32, 1, shape.d);
  fill(kernels, shape, updates, server);
  const boba::Round round{.updates = updates.view(), .server = server.view()};
  std::printf("\n%zu updates of length %zu (float32), %zu classes\n\n", shape.n, shape.d,
              shape.classes);
  std::printf("%-12s %9s  %9s  %6s  %8s\n", "rule", "ms", "x average", "TB/s", "accepted");
  double average = 0;
  const std::string f = "(f=" + std::to_string(shape.f) + ")";
  for (const std::string& spec :
       {std::string("average"), "coomed" + std::string(), "trmean" + f, "fltrust" + std::string(),
        "krum" + f, "mkrum" + f, "geomed" + std::string(), "boba" + f}) {
    const boba::Aggregator rule = need(boba::make_aggregator(spec));
    std::size_t accepted = 0;
    const double ms = median_ms(rule, kernels, round, out.row(0), accepted);
    if (average == 0) average = ms;
    const double bytes = static_cast<double>(shape.n * shape.d) * 4;
    std::printf("%-12s %9.3f  %9.2f  %6.2f  %8zu\n", spec.c_str(), ms, ms / average,
                bytes / ms * 1e-9, accepted);
  }
  run_passes(kernels, round, out.row(0));
}

}  // namespace

int main(int argc, char** argv) {
  Shape shape;
  std::vector<std::size_t> lengths = {1024, 199210, 20000000};
  CLI::App app("Time of the rules on a GPU, with the updates in its memory");
  app.add_option("n", shape.n, "clients");
  app.add_option("classes", shape.classes, "classes, one server gradient each");
  app.add_option("f", shape.f, "Byzantine clients");
  app.add_option("d", lengths, "lengths of an update");
  CLI11_PARSE(app, argc, argv);
  const auto kernels = need(boba::make_cuda_kernels());
  std::printf("%s\n", kernels->name().c_str());
  for (const std::size_t d : lengths) {
    shape.d = d;
    run(*kernels, shape);
  }
  return 0;
}
