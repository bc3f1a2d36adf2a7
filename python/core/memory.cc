// What a rule remembers of earlier rounds.

#include "python/core/memory.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <string>
#include <string_view>

#include "python/core/bind.h"
#include "python/core/errors.h"

namespace nb = nanobind;

namespace boba::python {
namespace {

// What a function of Memory gives.
template <auto Function>
auto get(HeldMemory& held) {
  const nb::gil_scoped_release unlocked;
  return in_turn(&held, [](const Memory* memory) { return (memory->*Function)(); });
}

nb::bytes save(HeldMemory& held) {
  const std::string bytes = get<&Memory::save>(held);
  return nb::bytes(bytes.data(), bytes.size());
}

std::unique_ptr<HeldMemory> load(const nb::bytes& bytes) {
  return std::make_unique<HeldMemory>(
      value_or_raise(Memory::load(std::string_view(bytes.c_str(), bytes.size()))));
}

}  // namespace

void bind_memory(nb::module_& module) {
  module.attr("most_clients") = Memory::kMostClients;
  nb::class_<HeldMemory>(module, "Memory")
      .def(
          "__init__",
          [](HeldMemory* self, std::size_t most) { new (self) HeldMemory(Memory(most)); },
          nb::arg("most"))
      .def("__len__", &get<&Memory::clients>)
      .def_prop_ro("most", &get<&Memory::most>)
      .def_prop_ro("rounds", &get<&Memory::rounds>)
      .def_prop_ro("rule", &get<&Memory::rule>)
      .def("save", &save)
      .def_static("load", &load, nb::arg("bytes"));
}

}  // namespace boba::python
