// Attacks, and what the Byzantine clients of one round send.

#include "boba/core/attack.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boba/attacks/registry.h"
#include "python/core/bind.h"
#include "python/core/engine.h"
#include "python/core/errors.h"
#include "python/core/rows.h"

namespace nb = nanobind;

namespace boba::python {
namespace {

// Writes one row to each array of out; gives what the attack chose, by name.
nb::dict forge(const NamedAttack& named, const Rows& honest, const std::vector<nb::ndarray<>>& out,
               double learning_rate, std::uint64_t seed, std::uint32_t number, int threads) {
  const std::shared_ptr<const Kernels> kernels = kernels_for(threads);
  std::vector<MutableRow> rows;
  rows.reserve(out.size());
  for (const nb::ndarray<>& array : out) {
    rows.push_back(writable_row(array, honest.dtype(), honest.length()));
  }
  const AttackRound round{
      .honest = honest.view(), .learning_rate = learning_rate, .seed = seed, .number = number};
  std::optional<Result<AttackReport>> report;
  {
    const nb::gil_scoped_release unlocked;
    report.emplace(named.attack->forge(*kernels, round, rows));
  }
  nb::dict chosen;
  for (const NamedValue& measure : value_or_raise(*std::move(report)).measures) {
    chosen[nb::str(measure.name.c_str())] = measure.value;
  }
  return chosen;
}

}  // namespace

void bind_attack(nb::module_& module) {
  nb::class_<NamedAttack>(module, "Attack").def_ro("spec", &NamedAttack::spec);
  module.def(
      "make_attack", [](const std::string& spec) { return value_or_raise(make_attack(spec)); },
      nb::arg("spec"));
  module.def("forge", &forge, nb::arg("attack"), nb::arg("honest"), nb::arg("out"),
             nb::arg("learning_rate"), nb::arg("seed"), nb::arg("number"), nb::arg("threads"));
}

}  // namespace boba::python
