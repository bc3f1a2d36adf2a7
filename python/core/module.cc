// boba._core: the engine as the Python package sees it. The package around it, not this module, is
// the interface for users.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#include "boba/text/printable.h"
#include "python/core/bind.h"
#include "python/core/errors.h"
#include "python/core/rows.h"

namespace nb = nanobind;

namespace boba::python {

void bind_rows(nb::module_& module) {
  nb::class_<Rows>(module, "Rows")
      .def(nb::init<nb::handle, std::string>(), nb::arg("value").none(), nb::arg("what"))
      .def("__len__", &Rows::rows)
      .def_prop_ro("length", &Rows::length)
      .def_prop_ro("dtype", [](const Rows& rows) { return std::string(name(rows.dtype())); })
      .def_prop_ro("shape", [](const Rows& rows) { return nb::tuple(nb::cast(rows.shape())); })
      .def_prop_ro("copied", &Rows::copied)
      .def("address", &Rows::address, nb::arg("row"));
  module.def("check_copied", &check_copied, nb::arg("value"), nb::arg("what"));
}

}  // namespace boba::python

NB_MODULE(_core, module) {
  // Rules that a cache or a test still holds when the interpreter ends are no leaks.
  nb::set_leak_warnings(false);
  module.attr("version") = BOBA_VERSION;
  // Bytes, not str: a str may hold half a surrogate pair, which C++ could not be given.
  module.def(
      "printable",
      [](const nb::bytes& text) {
        return boba::printable(std::string_view(text.c_str(), text.size()));
      },
      nb::arg("text"));
  const nb::exception<boba::python::Refused> refused(module, "RefusedError", PyExc_ValueError);
  boba::python::bind_rows(module);
  boba::python::bind_registry(module);
  boba::python::bind_verdict(module);
  boba::python::bind_memory(module);
  boba::python::bind_aggregate(module);
  boba::python::bind_attack(module);
  boba::python::bind_open_round(module);
}
