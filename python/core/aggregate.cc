// Rules, and one round through one of them.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/rules/registry.h"
#include "python/core/bind.h"
#include "python/core/engine.h"
#include "python/core/errors.h"
#include "python/core/memory.h"
#include "python/core/oracle.h"
#include "python/core/rows.h"
#include "python/core/verdict.h"

namespace nb = nanobind;

namespace boba::python {
namespace {

UpdateView view_of(const Rows* rows) { return rows == nullptr ? UpdateView() : rows->view(); }

// Where the rules cannot be run, nothing is called: None.
std::optional<PythonOracle> oracle_of(const nb::object& oracle) {
  if (oracle.is_none()) return std::nullopt;
  return std::optional<PythonOracle>(std::in_place, oracle);
}

HeldVerdict aggregate(const Aggregator& rule, const Rows& updates, const nb::ndarray<>& out,
                      const Rows* server, const std::vector<double>& server_counts,
                      const Rows* server_whole, const Rows* model, double learning_rate,
                      const nb::object& oracle, const std::vector<std::string>& ids,
                      HeldMemory* memory, std::optional<std::uint64_t> seed, std::uint32_t number,
                      int threads) {
  const std::shared_ptr<const Kernels> kernels = kernels_for(threads);
  std::optional<PythonOracle> asked = oracle_of(oracle);
  const MutableRow target = writable_row(out, updates.dtype(), updates.length());
  const Round round{.updates = updates.view(),
                    .ids = ids,
                    .server = view_of(server),
                    .server_counts = server_counts,
                    .server_whole = view_of(server_whole),
                    .model = view_of(model),
                    .learning_rate = learning_rate,
                    .oracle = asked ? &*asked : nullptr,
                    .seed = seed,
                    .number = number};
  std::optional<Result<Verdict>> verdict;
  const auto begin = std::chrono::steady_clock::now();
  {
    const nb::gil_scoped_release unlocked;
    verdict.emplace(in_turn(
        memory, [&](Memory* past) { return rule.aggregate(*kernels, round, target, past); }));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (asked) asked->raise_again();
  return {value_or_raise(*std::move(verdict)), seconds.count()};
}

}  // namespace

void bind_aggregate(nb::module_& module) {
  nb::class_<Aggregator>(module, "Aggregator")
      .def_prop_ro("spec", &Aggregator::spec)
      .def_prop_ro("server_parts", &Aggregator::server_parts)
      .def_prop_ro("uses_memory", &Aggregator::uses_memory)
      .def(
          "admits",
          [](const Aggregator& rule, std::size_t clients, std::size_t classes, std::size_t length,
             bool server) {
            const Shape shape{
                .clients = clients, .classes = classes, .length = length, .server = server};
            if (Result<void> good = rule.admits(shape); !good) raise(good.error());
          },
          nb::arg("clients"), nb::arg("classes"), nb::arg("length"), nb::arg("server"));
  module.def(
      "make_aggregator",
      [](const std::string& spec) { return value_or_raise(make_aggregator(spec)); },
      nb::arg("spec"));
  module.def("aggregate", &aggregate, nb::arg("rule"), nb::arg("updates"), nb::arg("out"),
             nb::arg("server").none(), nb::arg("server_counts"), nb::arg("server_whole").none(),
             nb::arg("model").none(), nb::arg("learning_rate"), nb::arg("oracle").none(),
             nb::arg("ids"), nb::arg("memory").none(), nb::arg("seed").none(), nb::arg("number"),
             nb::arg("threads"));
}

}  // namespace boba::python
