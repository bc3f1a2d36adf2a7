// Verdicts: nothing of one becomes a Python object before somebody reads it.

#include "python/core/verdict.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "python/core/bind.h"

namespace nb = nanobind;

namespace boba::python {
namespace {

template <class T>
nb::object new_array(std::size_t count, const auto& fill) {
  auto data = std::make_unique<T[]>(count);
  fill(data.get());
  T* raw = data.get();
  const nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  data.release();
  return nb::cast(nb::ndarray<nb::numpy, T>(raw, {count}, owner));
}

nb::object array_of(const std::vector<double>& values) {
  return new_array<double>(values.size(),
                           [&](double* to) { std::copy(values.begin(), values.end(), to); });
}

nb::dict dict_of(const std::vector<NamedValue>& measures) {
  nb::dict dict;
  for (const NamedValue& measure : measures) dict[nb::str(measure.name.c_str())] = measure.value;
  return dict;
}

nb::object accepted(const HeldVerdict& held) {
  const std::vector<ClientVerdict>& clients = held.verdict.clients;
  return new_array<bool>(clients.size(), [&](bool* to) {
    for (const ClientVerdict& client : clients) *to++ = client.accepted;
  });
}

// Fields of the record of client i, by name.
nb::dict client(const HeldVerdict& held, std::size_t i) {
  if (i >= held.verdict.clients.size()) throw nb::index_error("no such client");
  const ClientVerdict& client = held.verdict.clients[i];
  nb::dict record;
  record["index"] = client.index;
  record["id"] = client.id.empty() ? nb::object(nb::none()) : nb::object(nb::cast(client.id));
  record["weight"] = client.weight;
  record["accepted"] = client.accepted;
  record["refused"] = client.refused;
  record["reason"] = client.reason;
  record["bucket"] = client.bucket;
  record["in_fit"] = client.in_fit;
  record["measures"] = dict_of(client.measures);
  record["label_mix"] =
      client.label_mix.empty() ? nb::object(nb::none()) : array_of(client.label_mix);
  return record;
}

nb::object subspace(const HeldVerdict& held) {
  if (!held.verdict.subspace) return nb::none();
  const SubspaceReport& report = *held.verdict.subspace;
  nb::dict record;
  record["dimension"] = report.dimension;
  record["rank"] = report.rank;
  record["fits"] = report.fits;
  record["converged"] = report.converged;
  record["trimmed_loss"] = array_of(report.trimmed_loss);
  record["singular_values"] = array_of(report.singular_values);
  record["explained_variance"] = array_of(report.explained_variance);
  record["residual_level"] = report.residual_level;
  record["condition"] = report.condition;
  record["noise_singular_value"] = report.noise_singular_value;
  record["sigma_bound"] = report.sigma_bound;
  record["guarantee_possible"] = report.guarantee_possible;
  record["statements"] = report.statements;
  return record;
}

nb::object weights(const HeldVerdict& held) {
  if (!held.verdict.weighted) return nb::none();
  return array_of(held.verdict.weights);
}

}  // namespace

void bind_verdict(nb::module_& module) {
  const auto read = [](auto Verdict::*field) {
    return [field](const HeldVerdict& held) { return held.verdict.*field; };
  };
  nb::class_<HeldVerdict>(module, "Verdict")
      .def_prop_ro("rule", read(&Verdict::rule))
      .def_prop_ro("updates", read(&Verdict::updates))
      .def_prop_ro("length", read(&Verdict::length))
      .def_prop_ro("classes", read(&Verdict::classes))
      .def_prop_ro("refused", read(&Verdict::refused))
      .def_prop_ro("weighted", read(&Verdict::weighted))
      .def_prop_ro("absent", read(&Verdict::absent))
      .def_prop_ro("warnings", read(&Verdict::warnings))
      .def_prop_ro("notes", read(&Verdict::notes))
      .def_prop_ro("accepted_count",
                   [](const HeldVerdict& held) { return held.verdict.accepted(); })
      .def_prop_ro("seconds", [](const HeldVerdict& held) { return held.seconds; })
      .def_prop_ro("measures",
                   [](const HeldVerdict& held) { return dict_of(held.verdict.measures); })
      .def_prop_ro("weights", &weights)
      .def_prop_ro("server_weights",
                   [](const HeldVerdict& held) { return array_of(held.verdict.server_weights); })
      .def_prop_ro("accepted", &accepted)
      .def_prop_ro("subspace", &subspace)
      .def("client", &client, nb::arg("index"));
}

}  // namespace boba::python
