// Verdicts: nothing of one becomes a Python object before somebody reads it.

#include "python/core/verdict.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "boba/core/verdict_text.h"
#include "boba/rules/subspace_report.h"
#include "python/core/bind.h"

namespace nb = nanobind;

namespace boba::python {
namespace {

template <class T>
nb::object array_of(const std::vector<T>& values) {
  auto data = std::make_unique<T[]>(values.size());
  std::copy(values.begin(), values.end(), data.get());
  T* raw = data.get();
  const nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  data.release();
  return nb::cast(nb::ndarray<nb::numpy, T>(raw, {values.size()}, owner));
}

nb::object object_of(const std::vector<double>& values) { return array_of(values); }
nb::object object_of(const std::vector<bool>& values) { return array_of(values); }
nb::object object_of(const std::vector<NamedValue>& measures) {
  nb::dict dict;
  for (const NamedValue& measure : measures) dict[nb::str(measure.name.c_str())] = measure.value;
  return dict;
}
nb::object object_of(const std::vector<Fact>& facts);
nb::object object_of(const std::vector<RuleReport>& reports);
nb::object object_of(const std::vector<ClientVerdict>& clients);
template <class T>
nb::object object_of(const T& value) {
  return nb::cast(value);
}

nb::str text(std::string_view text) { return nb::str(text.data(), text.size()); }

nb::object object_of(const std::vector<Fact>& facts) {
  nb::dict dict;
  for (const Fact& fact : facts) {
    dict[text(fact.field->name)] =
        std::visit([](const auto& value) { return object_of(value); }, fact.value);
  }
  return dict;
}

nb::object object_of(const std::vector<RuleReport>& reports) {
  nb::dict dict;
  for (const RuleReport& report : reports) dict[text(report.name)] = object_of(report.facts);
  return dict;
}

// None where there is no value; a list of texts is empty then.
template <class T>
nb::object read(const FieldInfo& field, const T& value) {
  constexpr bool texts = std::same_as<T, std::vector<std::string>>;
  if (!texts && field.absent != Absent::kWritten && is_absent(value)) return nb::none();
  return object_of(value);
}

// The fields of a client by name; those of the rule are among them.
nb::dict record_of(const ClientVerdict& client) {
  nb::dict record;
  each_field(client, [&]<class T>(const FieldInfo& field, const T& value) {
    if constexpr (std::same_as<T, std::vector<Fact>>) {
      record.update(nb::cast<nb::dict>(object_of(value)));
    } else {
      record[text(field.name)] = read(field, value);
    }
  });
  return record;
}

nb::object object_of(const std::vector<ClientVerdict>& clients) {
  nb::list list;
  for (const ClientVerdict& client : clients) list.append(record_of(client));
  return list;
}

nb::dict client(const HeldVerdict& held, std::size_t i) {
  if (i >= held.verdict.clients.size()) throw nb::index_error("no such client");
  return record_of(held.verdict.clients[i]);
}

nb::object field(const HeldVerdict& held, const std::string& name) {
  nb::object found;
  each_field(held.verdict, [&](const FieldInfo& field, const auto& value) {
    if (field.name == name) found = read(field, value);
  });
  if (!found.is_valid()) throw nb::key_error(name.c_str());
  return found;
}

nb::list list_of(const std::vector<FieldInfo>& infos) {
  nb::list list;
  for (const FieldInfo& info : infos) {
    nb::dict record;
    record["name"] = text(info.name);
    record["type"] = text(info.type);
    record["meaning"] = text(info.meaning);
    record["optional"] = info.absent != Absent::kWritten;
    list.append(record);
  }
  return list;
}

// The fields of a verdict, of a client with those of rules among them, and of each rule's report.
nb::dict fields() {
  std::vector<FieldInfo> of_verdict = field_infos<Verdict>();
  std::erase_if(of_verdict, [](const FieldInfo& info) {
    return info.type == "clients" || info.type == "reports";
  });
  std::vector<FieldInfo> of_client = field_infos<ClientVerdict>();
  const auto is_fact = [](const FieldInfo& info) { return info.type == "facts"; };
  std::replace_if(of_client.begin(), of_client.end(), is_fact, kInFit);
  nb::dict dict;
  dict["verdict"] = list_of(of_verdict);
  dict["client"] = list_of(of_client);
  dict[text(SubspaceReport::kName)] = list_of(field_infos<SubspaceReport>());
  return dict;
}

}  // namespace

void bind_verdict(nb::module_& module) {
  module.def("fields", &fields);
  nb::class_<HeldVerdict>(module, "Verdict")
      .def_prop_ro("seconds", [](const HeldVerdict& held) { return held.seconds; })
      .def_prop_ro("headline", [](const HeldVerdict& held) { return headline(held.verdict); })
      .def_prop_ro("text", [](const HeldVerdict& held) { return verdict_text(held.verdict); })
      .def_prop_ro("clients_text",
                   [](const HeldVerdict& held) { return clients_text(held.verdict.clients); })
      .def("__len__", [](const HeldVerdict& held) { return held.verdict.clients.size(); })
      .def("field", &field, nb::arg("name"))
      .def("client", &client, nb::arg("index"));
}

}  // namespace boba::python
