// What each source of the extension adds to the module boba._core.
#pragma once

#include <nanobind/nanobind.h>

namespace boba::python {

void bind_rows(nanobind::module_& module);        // Rows
void bind_registry(nanobind::module_& module);    // entries, spec, parse
void bind_verdict(nanobind::module_& module);     // Verdict
void bind_memory(nanobind::module_& module);      // Memory
void bind_aggregate(nanobind::module_& module);   // Aggregator, aggregate
void bind_attack(nanobind::module_& module);      // Attack, forge
void bind_open_round(nanobind::module_& module);  // OpenRound, Upload

}  // namespace boba::python
