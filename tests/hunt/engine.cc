#include "tests/hunt/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>

#include "boba/core/open_round.h"
#include "boba/core/round.h"
#include "boba/core/sketch.h"
#include "boba/dist/sharded.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/cuda/cuda.h"
#include "boba/kernels/sketch/sketch.h"
#include "boba/rules/registry.h"
#include "tests/support/dist_team.h"
#include "tests/support/rules_loss.h"

namespace boba::hunt {
namespace {

UpdateMatrix matrix_of(const Rows& rows, DType dtype, Shard shard) {
  UpdateMatrix matrix(dtype, rows.size(), shard.length);
  visit(dtype, [&]<Element T>(T) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::span<T> out = matrix.row_as<T>(i);
      for (std::size_t k = 0; k < shard.length; ++k) {
        out[k] = static_cast<T>(rows[i][shard.first + k]);
      }
    }
  });
  return matrix;
}

Row row_of(UpdateMatrix& matrix) {
  return visit(matrix.dtype(), [&]<Element T>(T) {
    const std::span<T> row = matrix.row_as<T>(0);
    return Row(row.begin(), row.end());
  });
}

SketchPlan plan_of(const Scene& scene) {
  return {.seed = scene.seed, .length = scene.length() > 4096 ? 4096u : 256u};
}

// The round of some of the columns.
struct Held {
  Held(const Scene& scene, Shard shard)
      : updates(matrix_of(scene.updates, scene.dtype, shard)),
        server(matrix_of(scene.server, scene.dtype, shard)),
        model(matrix_of({scene.model}, scene.dtype, shard)),
        out(scene.dtype, 1, shard.length),
        loss(scene.curvature, scene.centre) {
    round.updates = updates.view();
    round.server = server.view();
    round.model = model.view();
    round.learning_rate = scene.eta;
    round.oracle = &loss;
    round.seed = scene.seed;
  }

  UpdateMatrix updates;
  UpdateMatrix server;
  UpdateMatrix model;
  UpdateMatrix out;
  test::QuadraticLoss loss;
  Round round;
};

EngineAnswer answer_of(Result<Verdict> verdict, UpdateMatrix& out) {
  EngineAnswer answer;
  if (!verdict) {
    answer.error = verdict.error().message;
    return answer;
  }
  answer.verdict = *std::move(verdict);
  answer.out = row_of(out);
  return answer;
}

}  // namespace

Engine::Engine()
    : one_(make_cpu_kernels({.threads = 1})), two_(make_cpu_kernels({.threads = 2, .grain = 1})) {}

Result<void> Engine::use_cuda() {
  Result<std::unique_ptr<const Kernels>> kernels = make_hosted_cuda_kernels();
  if (!kernels) return kernels.error();
  cuda_ = *std::move(kernels);
  return {};
}

EngineAnswer Engine::run(const Scene& scene) const {
  try {
    switch (scene.backend) {
      case Backend::kOneThread:
        return run_whole(scene, *one_);
      case Backend::kTwoThreads:
        return run_whole(scene, *two_);
      case Backend::kCuda:
        return run_whole(scene, cuda_ ? *cuda_ : *one_);
      case Backend::kSketch: {
        const auto sketched = make_sketch_kernels(*one_, plan_of(scene));
        if (!sketched) return {.error = sketched.error().message, .out = {}, .verdict = {}};
        return run_whole(scene, **sketched);
      }
      case Backend::kOpen:
      case Backend::kOpenSketch:
        return run_open(scene);
      case Backend::kRanks:
        return run_ranked(scene);
    }
  } catch (const std::exception& thrown) {
    return {.error = fmt::format("thrown: {}", thrown.what()), .out = {}, .verdict = {}};
  }
  return {};
}

EngineAnswer Engine::run_whole(const Scene& scene, const Kernels& kernels) const {
  const Result<Aggregator> rule = make_aggregator(scene.use.spec());
  if (!rule) return {.error = rule.error().message, .out = {}, .verdict = {}};
  Held held(scene, {0, scene.length()});
  return answer_of(rule->aggregate(kernels, held.round, held.out.row(0)), held.out);
}

EngineAnswer Engine::run_open(const Scene& scene) const {
  const Result<Aggregator> rule = make_aggregator(scene.use.spec());
  if (!rule) return {.error = rule.error().message, .out = {}, .verdict = {}};
  Held held(scene, {0, scene.length()});
  OpenRoundOptions options;
  options.dtype = scene.dtype;
  options.length = scene.length();
  for (std::size_t i = 0; i < scene.updates.size(); ++i) {
    options.cohort.push_back(fmt::format("client-{:03}", i));
  }
  options.server = held.server.view();
  options.model = held.model.view();
  options.learning_rate = scene.eta;
  options.oracle = &held.loss;
  options.seed = scene.seed;
  if (scene.backend == Backend::kOpenSketch) options.sketch = plan_of(scene);
  const std::vector<std::string> cohort = options.cohort;
  Result<OpenRound> open = OpenRound::open(*one_, *rule, std::move(options));
  if (!open) return {.error = open.error().message, .out = {}, .verdict = {}};
  // The last comes first. A row that is refused on arrival is no failure of the round.
  for (std::size_t i = cohort.size(); i-- > 0;) {
    RowList one(scene.dtype, scene.length());
    one.add(held.updates.view(), i);
    const Result<void> taken = open->submit(cohort[i], one.view());
    static_cast<void>(taken);
  }
  return answer_of(open->close(0, held.out.row(0)), held.out);
}

EngineAnswer Engine::run_ranked(const Scene& scene) {
  EngineAnswer all;
  all.out.resize(scene.length());
  std::mutex guard;
  test::run_ranks(2, [&](const Communicator& team) {
    const auto kernels = make_sharded_kernels(team, scene.length(), {.threads = 1});
    const Shard shard = shard_of(scene.length(), team.rank(), team.size());
    const Result<Aggregator> rule = make_aggregator(scene.use.spec());
    Held held(scene, shard);
    EngineAnswer part = answer_of(rule->aggregate(*kernels, held.round, held.out.row(0)), held.out);
    const std::lock_guard lock(guard);
    if (!part.error.empty()) {
      all.error = part.error;
      return;
    }
    std::copy(part.out.begin(), part.out.end(),
              all.out.begin() + static_cast<std::ptrdiff_t>(shard.first));
    if (team.rank() == 0) all.verdict = std::move(part.verdict);
  });
  return all;
}

}  // namespace boba::hunt
