#include "simulator/experiment/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "boba/core/spec.h"
#include "boba/text/names.h"
#include "boba/text/printable.h"
#include "simulator/experiment/participation.h"
#include "simulator/experiment/resolved.h"

namespace boba::sim {
namespace {

// A key that bears on the numbers of some experiments only.
struct Condition {
  std::string_view key;
  bool (*matters)(const ResolvedExperiment& experiment);
};

bool always(const ResolvedExperiment&) { return true; }
bool decays(const ResolvedExperiment& e) { return e.training.decay != 1; }
// Turnout says which attackers come and whether f is scaled; the latter without attackers too, so
// that runs with and without an attack have the same rule.
bool is_sampled(const ResolvedExperiment& e) {
  const bool scales_f = e.aggregator.tolerance().value_or(0) > 0;
  return !everyone(e.federation) && (e.federation.byzantine > 0 || scales_f);
}

constexpr Condition kConditions[] = {
    {"data.severity", [](const ResolvedExperiment& e) { return e.data.corruption != "none"; }},
    {"data.length", [](const ResolvedExperiment& e) { return e.traits.kind == DataKind::kText; }},
    // A script that another model does not read is refused, so it is never left out by mistake.
    {"model.script", [](const ResolvedExperiment& e) { return !e.model.script.empty(); }},
    {"training.decay_start", decays},
    {"training.decay_every", decays},
    {"training.local_steps",
     [](const ResolvedExperiment& e) { return e.training.algorithm != Algorithm::kFedSgd; }},
    {"training.mu",
     [](const ResolvedExperiment& e) { return e.training.algorithm == Algorithm::kFedProx; }},
    {"federation.byzantine_turnout", is_sampled},
    {"federation.byzantine_ids",
     [](const ResolvedExperiment& e) {
       return e.federation.byzantine > 0 && e.aggregator.uses_memory() &&
              e.federation.byzantine_ids != ByzantineIds::kKept;
     }},
    {"server.per_class", [](const ResolvedExperiment& e) { return e.server.counts.empty(); }},
    {"server.counts", [](const ResolvedExperiment& e) { return !e.server.counts.empty(); }},
    {"server.severity", [](const ResolvedExperiment& e) { return e.server.noise != "none"; }},
    // Rules that compare no updates have nothing to sketch.
    {"run.gram", [](const ResolvedExperiment& e) { return e.sketch && e.aggregator.needs_gram(); }},
};

auto condition_of(std::string_view key) {
  const auto* found = std::find_if(std::begin(kConditions), std::end(kConditions),
                                   [&](const Condition& each) { return each.key == key; });
  return found == std::end(kConditions) ? &always : found->matters;
}

// of: where an experiment has the section.
template <class Section, class Of>
void add_keys(std::vector<Key>& all, Of of) {
  const std::vector<OptionInfo> infos = describe<Section>();
  auto info = infos.begin();
  detail::each_field<Section>([&](const auto& f) {
    all.push_back({.info = *info,
                   .matters = condition_of(f.name),
                   .print = [=](const Experiment& e) { return detail::print_field(f, of(e)); },
                   .check = [=](const Experiment& e) { return detail::check_field(f, of(e)); },
                   .reset = [=](Experiment& e) { of(e).*f.member = Section().*f.member; },
                   .read_text = [=](std::string_view text,
                                    Experiment& e) { return detail::read_field(f, text, of(e)); }});
    ++info;
  });
}

std::vector<Key> make_keys() {
  std::vector<Key> all;
  add_keys<Experiment>(
      all, [](auto& e) -> auto& { return e; });
  add_keys<DataSection>(
      all, [](auto& e) -> auto& { return e.data; });
  add_keys<ModelSection>(
      all, [](auto& e) -> auto& { return e.model; });
  add_keys<TrainingSection>(
      all, [](auto& e) -> auto& { return e.training; });
  add_keys<FederationSection>(
      all, [](auto& e) -> auto& { return e.federation; });
  add_keys<ServerSection>(
      all, [](auto& e) -> auto& { return e.server; });
  add_keys<RunSection>(
      all, [](auto& e) -> auto& { return e.run; });
  return all;
}

// The text of a value that has the key's type.
Result<std::string> text_of(const Key& key, const Value& value) {
  const auto needs = [&](std::string_view type) {
    return invalid_argument(
        fmt::format("{} needs {}; got {}", key.path(), type, describe_value(value)));
  };
  const auto* text = std::get_if<std::string>(&value);
  if (key.takes_text()) {
    if (text != nullptr) return *text;
    if (key.info.type == "text") return needs("text in quotes");
    return needs(fmt::format("one of {}, in quotes", fmt::join(key.info.choices, ", ")));
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  const auto* real = std::get_if<double>(&value);
  if (key.info.type == "number") {
    if (real == nullptr) return needs("a number");
    return detail::print_number(*real + 0.0);  // -0 becomes 0: both print alike
  }
  if (real == nullptr || *real != std::floor(*real) || std::abs(*real) >= 1e15) {
    return needs("a whole number");
  }
  return needs(fmt::format("a whole number, written {:.0f}", *real));
}

std::vector<std::string_view> names_in(std::string_view section) {
  std::vector<std::string_view> names;
  for (const Key& each : keys()) {
    if (each.section() == section) names.push_back(each.name());
  }
  return names;
}

std::vector<std::string_view> sections() {
  std::vector<std::string_view> names;
  for (const Key& each : keys()) {
    if (!each.section().empty() && (names.empty() || names.back() != each.section())) {
      names.push_back(each.section());
    }
  }
  return names;
}

// Where the key belongs if another section has it; empty: no section has it.
std::string elsewhere(std::string_view name) {
  for (const Key& each : keys()) {
    if (each.name() != name) continue;
    if (each.section().empty()) {
      return fmt::format("; {} belongs at the top of the file, before the sections", name);
    }
    return fmt::format("; it belongs to [{}]", each.section());
  }
  return "";
}

}  // namespace

std::string_view Key::section() const {
  const std::size_t dot = path().find('.');
  return dot == std::string::npos ? std::string_view() : std::string_view(path()).substr(0, dot);
}

std::string_view Key::name() const {
  return std::string_view(path()).substr(path().find('.') + 1);  // npos + 1 is 0
}

Result<void> Key::read(const Value& value, Experiment& experiment) const {
  const Result<std::string> text = text_of(*this, value);
  if (!text) return text.error();
  return read_text(*text, experiment);
}

std::span<const Key> keys() {
  static const std::vector<Key> all = make_keys();
  return all;
}

const Key* find_key(std::string_view path) {
  for (const Key& each : keys()) {
    if (each.path() == path) return &each;
  }
  return nullptr;
}

Value value_of_text(const Key& key, std::string_view text) {
  if (key.takes_text()) return std::string(text);
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  const auto whole_number = std::from_chars(text.data(), end, integer);
  if (whole_number.ec == std::errc() && whole_number.ptr == end) return integer;
  double real = 0;
  const auto number = std::from_chars(text.data(), end, real);
  if (number.ec == std::errc() && number.ptr == end) return real;
  return std::string(text);
}

bool is_section(std::string_view name) {
  const auto all = sections();
  return std::find(all.begin(), all.end(), name) != all.end();
}

Error unknown_section(std::string_view name) {
  const auto all = sections();
  const std::string close = suggestion(name, all);
  return invalid_argument(fmt::format("unknown section [{}]{} sections are: {}", excerpt(name),
                                      close.empty() ? ";" : close, join(all)));
}

Error unknown_key(std::string_view section, std::string_view name) {
  if (!section.empty() && !is_section(section)) return unknown_section(section);
  const auto known = names_in(section);
  const std::string path =
      section.empty() ? excerpt(name) : fmt::format("{}.{}", section, excerpt(name));
  std::string hint = elsewhere(name);
  if (hint.empty()) hint = suggestion(name, known);
  if (!hint.ends_with('?')) hint += ";";
  if (!section.empty()) {
    return invalid_argument(
        fmt::format("unknown key {}{} keys of [{}] are: {}", path, hint, section, join(known)));
  }
  return invalid_argument(fmt::format("unknown key {}{} keys at the top are: {}; sections are: {}",
                                      path, hint, join(known), join(sections())));
}

}  // namespace boba::sim
