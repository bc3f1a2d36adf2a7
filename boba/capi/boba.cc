#include "boba/capi/boba.h"

#include <fmt/format.h>

#include "boba/capi/guard.h"
#include "boba/capi/handles.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/sketch/sketch.h"
#include "boba/rules/registry.h"

using boba::invalid_argument;
using boba::Result;
using boba::capi::guarded;
using boba::capi::in_range;
using boba::capi::need;

namespace {

constexpr int kMostThreads = 4096;

// Names and summaries with the 0 at their end that string_view does not promise.
struct Line {
  std::string name;
  std::string summary;
};

template <class Entries>
std::vector<Line> lines_of(const Entries& entries) {
  std::vector<Line> lines;
  for (const auto& entry : entries) {
    lines.push_back({std::string(entry.info.name), std::string(entry.info.summary)});
  }
  return lines;
}

Result<const std::vector<Line>*> lines_of_list(boba_list list) {
  static const std::vector<Line> lists[] = {lines_of(boba::rules()), lines_of(boba::mix_stages()),
                                            lines_of(boba::blend_stages()),
                                            lines_of(boba::attacks())};
  if (list >= BOBA_RULES && list <= BOBA_ATTACKS) return &lists[list];
  return invalid_argument(
      fmt::format("boba_list: no list {}; lists are {}..{}", list, +BOBA_RULES, +BOBA_ATTACKS));
}

}  // namespace

const char* boba_version(void) { return BOBA_VERSION; }

boba_status boba_list_count(boba_list list, size_t* count) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need("boba_list_count", {{count, "count"}}); !good) return good;
    const auto lines = lines_of_list(list);
    if (!lines) return lines.error();
    *count = (*lines)->size();
    return {};
  });
}

boba_status boba_list_at(boba_list list, size_t index, const char** name, const char** summary) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need("boba_list_at", {{name, "name"}, {summary, "summary"}}); !good) {
      return good;
    }
    const auto lines = lines_of_list(list);
    if (!lines) return lines.error();
    const std::vector<Line>& known = **lines;
    if (Result<void> good = in_range("boba_list_at", "entry", index, known.size()); !good) {
      return good;
    }
    *name = known[index].name.c_str();
    *summary = known[index].summary.c_str();
    return {};
  });
}

boba_status boba_kernels_create_cpu(int threads, boba_kernels** kernels) {
  if (kernels != nullptr) *kernels = nullptr;
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need("boba_kernels_create_cpu", {{kernels, "kernels"}}); !good) {
      return good;
    }
    if (threads < 0 || threads > kMostThreads) {
      return invalid_argument(fmt::format("boba_kernels_create_cpu: threads={} is outside [0, {}]",
                                          threads, kMostThreads));
    }
    auto made = boba::make_cpu_kernels({.threads = threads});
    std::string name = made->name();
    *kernels = new boba_kernels{std::move(made), std::move(name)};
    return {};
  });
}

boba_status boba_kernels_create_sketch(const boba_kernels* inner, const char* spec,
                                       boba_kernels** kernels) {
  if (kernels != nullptr) *kernels = nullptr;
  return guarded([&]() -> Result<void> {
    constexpr std::string_view kOperation = "boba_kernels_create_sketch";
    if (Result<void> good =
            need(kOperation, {{inner, "inner"}, {spec, "spec"}, {kernels, "kernels"}});
        !good) {
      return good;
    }
    const Result<std::optional<boba::SketchPlan>> plan = boba::capi::deployed_plan(spec);
    if (!plan) return plan.error();
    if (!plan->has_value()) {
      return invalid_argument(
          fmt::format("{}: '{}' sketches nothing; use the inner kernels", kOperation, spec));
    }
    auto made = boba::make_sketch_kernels(*inner->kernels, **plan);
    if (!made) return made.error();
    std::string name = (*made)->name();
    *kernels = new boba_kernels{*std::move(made), std::move(name)};
    return {};
  });
}

void boba_kernels_destroy(boba_kernels* kernels) { delete kernels; }

boba_status boba_kernels_name(const boba_kernels* kernels, const char** name) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good = need("boba_kernels_name", {{kernels, "kernels"}, {name, "name"}});
        !good) {
      return good;
    }
    *name = kernels->name.c_str();
    return {};
  });
}

boba_status boba_aggregator_create(const char* spec, boba_aggregator** aggregator) {
  if (aggregator != nullptr) *aggregator = nullptr;
  return guarded([&]() -> Result<void> {
    if (Result<void> good =
            need("boba_aggregator_create", {{spec, "spec"}, {aggregator, "aggregator"}});
        !good) {
      return good;
    }
    Result<boba::Aggregator> made = boba::make_aggregator(spec);
    if (!made) return made.error();
    *aggregator = new boba_aggregator{*std::move(made)};
    return {};
  });
}

void boba_aggregator_destroy(boba_aggregator* aggregator) { delete aggregator; }

boba_status boba_aggregator_spec(const boba_aggregator* aggregator, const char** spec) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good =
            need("boba_aggregator_spec", {{aggregator, "aggregator"}, {spec, "spec"}});
        !good) {
      return good;
    }
    *spec = aggregator->aggregator.spec().c_str();
    return {};
  });
}

boba_status boba_aggregator_uses_memory(const boba_aggregator* aggregator, int* uses) {
  return guarded([&]() -> Result<void> {
    if (Result<void> good =
            need("boba_aggregator_uses_memory", {{aggregator, "aggregator"}, {uses, "uses"}});
        !good) {
      return good;
    }
    *uses = aggregator->aggregator.uses_memory();
    return {};
  });
}
