// The tables of rules, stages and attacks, as plain Python values.

#include "boba/rules/registry.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boba/attacks/registry.h"
#include "python/core/bind.h"
#include "python/core/errors.h"

namespace nb = nanobind;

namespace boba::python {
namespace {

std::string text(std::string_view view) { return std::string(view); }

nb::dict describe(const OptionInfo& option) {
  nb::dict line;
  line["name"] = option.name;
  line["type"] = option.type;
  line["default"] = option.default_value;
  line["help"] = option.help;
  line["range"] = option.range();
  line["choices"] = option.choices;
  line["word"] = option.word;
  return line;
}

template <class Product>
void add_entries(nb::list& list, const char* kind, std::span<const Entry<Product>> entries) {
  for (const Entry<Product>& entry : entries) {
    nb::dict line;
    line["kind"] = kind;
    line["name"] = text(entry.info.name);
    line["summary"] = text(entry.info.summary);
    line["computes"] = text(entry.info.computes);
    line["condition"] = text(entry.info.condition);
    line["cost"] = text(entry.info.cost);
    line["citation"] = text(entry.info.citation);
    line["python"] = python_class(entry.info);
    line["python_alias"] = text(entry.info.python_alias);
    nb::list options;
    for (const OptionInfo& option : entry.options()) options.append(describe(option));
    line["options"] = options;
    list.append(line);
  }
}

// Everything there is, in the order of the core's tables.
nb::list entries() {
  nb::list list;
  add_entries(list, "rule", rules());
  add_entries(list, "mix", mix_stages());
  add_entries(list, "blend", blend_stages());
  add_entries(list, "attack", attacks());
  return list;
}

const std::string& spec_of(const Aggregator& made) { return made.spec(); }
template <class Named>
const std::string& spec_of(const Named& made) {
  return made.spec;
}

template <class Product>
std::optional<std::string> made_from(std::span<const Entry<Product>> entries,
                                     const Params& params) {
  const Entry<Product>* entry = find_entry(entries, params.name);
  if (entry == nullptr) return std::nullopt;
  return spec_of(value_or_raise(entry->make(params)));
}

using Options = std::vector<std::pair<std::string, std::string>>;

// The canonical spelling of one rule, stage or attack with these options.
std::string spec(const std::string& kind, const std::string& name, const Options& options) {
  const Params params{name, options};
  std::optional<std::string> made;
  if (kind == "rule") made = made_from(rules(), params);
  if (kind == "mix") made = made_from(mix_stages(), params);
  if (kind == "blend") made = made_from(blend_stages(), params);
  if (kind == "attack") made = made_from(attacks(), params);
  if (!made) raise(invalid_argument(fmt::format("no {} '{}'", kind, name)));
  return *made;
}

// The stages of a spec as they were written.
std::vector<std::pair<std::string, Options>> parse(const std::string& spec) {
  std::vector<std::pair<std::string, Options>> stages;
  for (Params& stage : value_or_raise(parse_spec(spec))) {
    stages.emplace_back(std::move(stage.name), std::move(stage.values));
  }
  return stages;
}

}  // namespace

void bind_registry(nb::module_& module) {
  module.def("entries", &entries);
  module.def("spec", &spec, nb::arg("kind"), nb::arg("name"), nb::arg("options"));
  module.def("parse", &parse, nb::arg("spec"));
}

}  // namespace boba::python
