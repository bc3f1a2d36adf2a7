// boba_bench_weigh: what a rule costs beside its passes over d.
//
//   boba_bench_weigh [--n N] [--d D] [--f F] [--classes C] [--noise X] [--rounds K] [--repeat R]
//                    [--rule NAME]
//
// Each rule runs once on each of K synthetic rounds; then again and again with passes that hand out
// what the first run saw, so that the time left is that of choosing an origin, deciding and
// explaining. Rounds take turns and the caches are filled with other things in between, as they are
// when a round of training lies between two calls: on one round alone the processor would learn its
// branches by heart.

#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boba/kernels/cpu/cpu.h"
#include "boba/rules/registry.h"
#include "tools/synthetic.h"

namespace {

using boba::DotsPass;
using boba::GramPass;
using boba::Kernels;
using boba::MutableRow;
using boba::OutputPass;
using boba::Round;
using boba::RowScan;
using boba::UpdateMatrix;
using boba::UpdateView;

// Notes the answers of the first call of a rule, and gives them in the same order ever after.
class Remembered final : public Kernels {
 public:
  explicit Remembered(const Kernels& kernels) : kernels_(kernels) {}

  void begin() const { at_ = {}; }

  std::string name() const override { return kernels_.name() + ", remembered"; }
  GramPass gram(const UpdateView& rows, std::span<const double> origin,
                boba::Precision precision) const override {
    return answer(grams_, at_.gram, [&] { return kernels_.gram(rows, origin, precision); });
  }
  DotsPass dots(const UpdateView& rows, const UpdateView& reference,
                std::span<const double> weights) const override {
    return answer(dots_, at_.dots, [&] { return kernels_.dots(rows, reference, weights); });
  }
  std::vector<RowScan> sketch(const UpdateView& rows, const boba::SketchPlan& plan,
                              std::span<double> out) const override {
    return kernels_.sketch(rows, plan, out);
  }
  OutputPass combine(const UpdateView& rows, std::span<const double> weights, double keep,
                     MutableRow out) const override {
    return answer(outputs_, at_.output, [&] { return kernels_.combine(rows, weights, keep, out); });
  }
  OutputPass order_mean(const UpdateView& rows, const boba::Mix* mix, std::size_t first,
                        std::size_t last, MutableRow out) const override {
    return answer(outputs_, at_.output,
                  [&] { return kernels_.order_mean(rows, mix, first, last, out); });
  }
  OutputPass moments(const UpdateView& rows, double mean_factor, double deviation_factor,
                     MutableRow out) const override {
    return kernels_.moments(rows, mean_factor, deviation_factor, out);
  }
  OutputPass normal(const boba::StreamKey& key, double sigma, MutableRow out) const override {
    return kernels_.normal(key, sigma, out);
  }

 private:
  template <class Pass, class Make>
  Pass answer(std::vector<Pass>& known, std::size_t& at, const Make& make) const {
    if (at == known.size()) known.push_back(make());
    return known[at++];
  }

  struct Places {
    std::size_t gram = 0;
    std::size_t dots = 0;
    std::size_t output = 0;
  };

  const Kernels& kernels_;
  mutable std::vector<GramPass> grams_;
  mutable std::vector<DotsPass> dots_;
  mutable std::vector<OutputPass> outputs_;
  mutable Places at_;
};

struct Options {
  std::size_t n = 115;
  std::size_t d = 199210;
  std::size_t f = 16;
  std::size_t classes = 10;
  std::size_t repeat = 200;
  std::size_t rounds = 16;
  double noise = 0.25;
  std::string only;  // rules whose names begin so
};

[[noreturn]] void stop(std::string_view message) {
  fmt::print(stderr, "boba_bench_weigh: {}\n", message);
  std::exit(2);
}

long faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

struct Data {
  UpdateMatrix updates;
  UpdateMatrix server;
};

// Mixtures of two classes with noise; the last f are -10 times the mean of the rest.
Data make_data(const Kernels& kernels, const Options& options, std::uint64_t seed) {
  const std::size_t honest = options.n - options.f;
  auto data = boba::tools::make_synthetic(kernels, {.honest = honest,
                                                    .byzantine = options.f,
                                                    .classes = options.classes,
                                                    .length = options.d,
                                                    .noise = options.noise,
                                                    .seed = seed});
  std::vector<double> weights(options.n, 0.0);
  std::fill_n(weights.begin(), honest, -10.0 / static_cast<double>(honest));
  for (std::size_t i = honest; i < options.n; ++i) {
    kernels.combine(data.updates.view(), weights, 0, data.updates.row(i));
  }
  return {std::move(data.updates), std::move(data.server)};
}

struct Times {
  std::vector<double> us;
  double faults = 0;
};

// The passes of the first turn are real; later ones find all answers known.
Times measure(const boba::Aggregator& rule, const std::vector<Remembered>& passes, const Data& data,
              const Options& options, UpdateMatrix& out) {
  const Round round{.updates = data.updates.view(), .server = data.server.view()};
  std::vector<unsigned char> other(std::size_t{4} << 20);
  Times times;
  for (std::size_t i = 0; i < options.repeat; ++i) {
    std::fill(other.begin(), other.end(), static_cast<unsigned char>(i));
    const Remembered& kernels = passes[i % passes.size()];
    kernels.begin();
    const long before = faults();
    const auto start = std::chrono::steady_clock::now();
    const auto verdict = rule.aggregate(kernels, round, out.row(0));
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    times.faults += static_cast<double>(faults() - before) / static_cast<double>(options.repeat);
    if (!verdict) stop(verdict.error().message);
    times.us.push_back(time.count());
  }
  std::sort(times.us.begin(), times.us.end());
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("What a rule costs beside its passes over the updates");
  app.add_option("--n", options.n, "clients");
  app.add_option("--d", options.d, "length of an update");
  app.add_option("--f", options.f, "Byzantine clients");
  app.add_option("--classes", options.classes, "classes, one server gradient each");
  app.add_option("--noise", options.noise, "norm of the noise");
  app.add_option("--rounds", options.rounds, "rounds that take turns");
  app.add_option("--repeat", options.repeat, "timed calls of each rule");
  app.add_option("--rule", options.only, "only rules whose names begin so");
  CLI11_PARSE(app, argc, argv);
  if (options.f >= options.n || options.classes == 0 || options.d == 0 || options.rounds == 0 ||
      options.repeat == 0) {
    stop("needs f < n, and one class, column, round and repeat at least");
  }
  const auto kernels = boba::make_cpu_kernels({.threads = 1});
  UpdateMatrix out(boba::DType::kFloat32, 1, options.d);
  const std::string f = fmt::format("(f={})", options.f);
  std::vector<std::string> specs = {"average", "krum" + f, "mkrum" + f,
                                    "geomed",  "rage" + f, "boba" + f};
  std::erase_if(specs, [&](const std::string& spec) { return !spec.starts_with(options.only); });
  std::vector<boba::Aggregator> rules;
  for (const std::string& spec : specs) {
    boba::Result<boba::Aggregator> rule = boba::make_aggregator(spec);
    if (!rule) stop(rule.error().message);
    rules.push_back(*std::move(rule));
  }
  std::vector<std::vector<Remembered>> passes(rules.size());
  Data data;
  for (std::size_t k = 0; k < options.rounds; ++k) {
    data = make_data(*kernels, options, k + 1);
    const Round round{.updates = data.updates.view(), .server = data.server.view()};
    for (std::size_t r = 0; r < rules.size(); ++r) {
      passes[r].emplace_back(*kernels);
      const auto verdict = rules[r].aggregate(passes[r].back(), round, out.row(0));
      if (!verdict) stop(verdict.error().message);
    }
  }
  fmt::print("{} updates of length {}, {} of them Byzantine; {} classes; noise {}\n\n", options.n,
             options.d, options.f, options.classes, options.noise);
  fmt::print("{:<16} {:>9} {:>9} {:>12}\n", "rule", "least, us", "median", "page faults");
  for (std::size_t r = 0; r < rules.size(); ++r) {
    const Times times = measure(rules[r], passes[r], data, options, out);
    fmt::print("{:<16} {:>9.0f} {:>9.0f} {:>12.1f}\n", specs[r], times.us.front(),
               times.us[times.us.size() / 2], times.faults);
  }
  return 0;
}
