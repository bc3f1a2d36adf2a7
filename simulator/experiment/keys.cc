#include "simulator/experiment/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <type_traits>
#include <vector>

#include "boba/core/options.h"
#include "boba/core/spec.h"
#include "boba/rules/registry.h"
#include "boba/text/names.h"
#include "boba/text/printable.h"
#include "simulator/data/catalogue.h"
#include "simulator/experiment/grid.h"
#include "simulator/experiment/participation.h"

namespace boba::sim {
namespace {

constexpr std::array<std::string_view, 3> kAlgorithms = {"fedsgd", "fedavg", "fedprox"};
constexpr std::array<std::string_view, 2> kTurnouts = {"sampled", "all"};
constexpr std::size_t kLongestText = 4096;

Error wants(const Key& key, std::string_view what, const Value& value) {
  return invalid_argument(
      fmt::format("{} wants {}; got {}", key.path(), what, describe_value(value)));
}

bool is_control(char c) { return (c >= 0 && c < ' ') || c == 127; }

Result<void> check_value(const Key& key, const std::string& text) {
  if (text.size() > kLongestText) {
    return invalid_argument(
        fmt::format("{} has {} characters; at most {}", key.path(), text.size(), kLongestText));
  }
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return invalid_argument(
        fmt::format("{} has a control character or a line end: '{}'", key.path(), excerpt(text)));
  }
  return {};
}

Result<void> check_value(const Key& key, std::uint64_t value) {
  if (value <= kLargestSeed) return {};
  return invalid_argument(fmt::format("{}={} is outside [0, {}]", key.path(), value, kLargestSeed));
}

template <class T>
requires(std::same_as<T, int> || std::same_as<T, double>) Result<void> check_value(const Key& key,
                                                                                   T value) {
  return detail::check_range(key.path(), static_cast<double>(value), key.low, key.high);
}

template <class T>
requires std::is_enum_v<T> Result<void> check_value(const Key& key, T value) {
  if (static_cast<std::size_t>(value) < key.choices.size()) return {};
  return invalid_argument(fmt::format("{} is none of: {}", key.path(), join(key.choices)));
}

Result<void> convert(const Key& key, const Value& value, std::string& out) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return wants(key, "text in quotes", value);
  if (Result<void> good = check_value(key, *text); !good) return good;
  out = *text;
  return {};
}

Result<std::int64_t> whole(const Key& key, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  const auto* real = std::get_if<double>(&value);
  if (real == nullptr || *real != std::floor(*real) || std::abs(*real) >= 1e15) {
    return wants(key, "a whole number", value);
  }
  return wants(key, fmt::format("a whole number, written {:.0f}", *real), value);
}

Result<void> convert(const Key& key, const Value& value, std::uint64_t& out) {
  const Result<std::int64_t> number = whole(key, value);
  if (!number) return number.error();
  if (*number < 0) {
    return invalid_argument(
        fmt::format("{}={} is outside [0, {}]", key.path(), *number, kLargestSeed));
  }
  out = static_cast<std::uint64_t>(*number);
  return {};
}

Result<void> convert(const Key& key, const Value& value, int& out) {
  const Result<std::int64_t> number = whole(key, value);
  if (!number) return number.error();
  // The ranges of integer keys lie within those of int.
  if (Result<void> good = check_value(key, static_cast<double>(*number)); !good) return good;
  out = static_cast<int>(*number);
  return {};
}

Result<void> convert(const Key& key, const Value& value, double& out) {
  double number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    number = *real;
  } else {
    return wants(key, "a number", value);
  }
  if (Result<void> good = check_value(key, number); !good) return good;
  out = number == 0 ? 0.0 : number;  // -0 would be printed differently
  return {};
}

template <class T>
requires std::is_enum_v<T> Result<void> convert(const Key& key, const Value& value, T& out) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) {
    return wants(key, fmt::format("one of {}, in quotes", join(key.choices)), value);
  }
  const auto at = std::find(key.choices.begin(), key.choices.end(), *text);
  if (at == key.choices.end()) {
    const std::string close = suggestion(*text, key.choices);
    return invalid_argument(fmt::format("{} = '{}' is no choice{} choices are: {}", key.path(),
                                        excerpt(*text), close.empty() ? ";" : close,
                                        join(key.choices)));
  }
  out = static_cast<T>(at - key.choices.begin());
  return {};
}

template <class T>
std::string print_value(const Key& key, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    const auto index = static_cast<std::size_t>(value);
    return std::string(index < key.choices.size() ? key.choices[index] : "?");
  } else if constexpr (std::same_as<T, std::string>) {
    return value;
  } else if constexpr (std::same_as<T, double>) {
    return detail::print_number(value);
  } else {
    return std::to_string(value);
  }
}

template <class T>
constexpr KeyType type_of() {
  if constexpr (std::is_enum_v<T>) return KeyType::kChoice;
  if constexpr (std::same_as<T, std::string>) return KeyType::kText;
  if constexpr (std::same_as<T, double>) return KeyType::kNumber;
  return KeyType::kInteger;
}

// Where a key's value is: a member of the experiment, or of one of its sections.
template <auto Member>
struct Top {
  static auto& of(auto& experiment) { return experiment.*Member; }
};
template <auto Section, auto Member>
struct In {
  static auto& of(auto& experiment) { return experiment.*Section.*Member; }
};

bool always(const Experiment&) { return true; }

template <class Place>
constexpr Key key(std::string_view section, std::string_view name, std::string_view help) {
  using T = std::remove_cvref_t<decltype(Place::of(std::declval<Experiment&>()))>;
  Key result;
  result.section = section;
  result.name = name;
  result.help = help;
  result.type = type_of<T>();
  result.matters = &always;
  result.print = [](const Key& self, const Experiment& experiment) {
    return print_value(self, Place::of(experiment));
  };
  result.read = [](const Key& self, const Value& value, Experiment& experiment) {
    return convert(self, value, Place::of(experiment));
  };
  result.check = [](const Key& self, const Experiment& experiment) {
    return check_value(self, Place::of(experiment));
  };
  result.reset = [](Experiment& experiment) {
    const Experiment defaults;
    Place::of(experiment) = Place::of(defaults);
  };
  return result;
}

template <auto Member>
constexpr Key top(std::string_view name, std::string_view help) {
  return key<Top<Member>>("", name, help);
}
template <auto Member>
constexpr Key data(std::string_view name, std::string_view help) {
  return key<In<&Experiment::data, Member>>("data", name, help);
}
template <auto Member>
constexpr Key model(std::string_view name, std::string_view help) {
  return key<In<&Experiment::model, Member>>("model", name, help);
}
template <auto Member>
constexpr Key training(std::string_view name, std::string_view help) {
  return key<In<&Experiment::training, Member>>("training", name, help);
}
template <auto Member>
constexpr Key federation(std::string_view name, std::string_view help) {
  return key<In<&Experiment::federation, Member>>("federation", name, help);
}
template <auto Member>
constexpr Key server(std::string_view name, std::string_view help) {
  return key<In<&Experiment::server, Member>>("server", name, help);
}
template <auto Member>
constexpr Key run(std::string_view name, std::string_view help) {
  return key<In<&Experiment::run, Member>>("run", name, help);
}

bool is_corrupted(const Experiment& e) { return e.data.corruption != "none"; }
bool has_texts(const Experiment& e) {
  const Result<DatasetTraits> traits = dataset_traits(e.data.set);
  return !traits || traits->kind == DataKind::kText;
}
bool is_local(const Experiment& e) { return e.training.algorithm != Algorithm::kFedSgd; }
bool is_proximal(const Experiment& e) { return e.training.algorithm == Algorithm::kFedProx; }
bool decays(const Experiment& e) { return e.training.decay != 1; }
bool has_f(const Experiment& e) {
  const Result<std::vector<Params>> stages = parse_spec(e.rule);
  if (!stages) return true;
  return std::any_of(stages->begin(), stages->end(), [](const Params& stage) {
    return std::any_of(stage.values.begin(), stage.values.end(),
                       [](const auto& value) { return value.first == "f"; });
  });
}
// Turnout says which attackers come and whether f is scaled; the latter without attackers too, so
// that runs with and without an attack have the same rule.
bool is_sampled(const Experiment& e) {
  return !everyone(e.federation) && (e.federation.byzantine > 0 || has_f(e));
}
bool has_counts(const Experiment& e) { return !e.server.counts.empty(); }
bool has_no_counts(const Experiment& e) { return e.server.counts.empty(); }
bool has_noise(const Experiment& e) { return e.server.noise != "none"; }
// A script that another model does not read is refused, so it is never left out by mistake.
bool has_script(const Experiment& e) { return !e.model.script.empty(); }

// Rules that compare no updates have nothing to sketch.
bool is_sketched(const Experiment& e) {
  if (e.run.gram == "exact") return false;
  const Result<Aggregator> rule = make_aggregator(e.rule);
  return !rule || rule->needs_gram();
}

constexpr Key kKeys[] = {
    top<&Experiment::rule>("rule", "how the server aggregates; see `boba rules`"),
    top<&Experiment::attack>("attack", "none, labelflip, or one of `boba attacks`"),
    top<&Experiment::seed>("seed", "of every random number of the run"),

    data<&DataSection::set>("set", "the data set; see `boba data list`"),
    data<&DataSection::partition>("partition", "how the examples are dealt to the clients"),
    data<&DataSection::corruption>(
        "corruption", "of the clients' images: none, the name of one, or all (client i the i-th)"),
    data<&DataSection::severity>("severity", "of the corruption").between(1, 5).when(is_corrupted),
    data<&DataSection::train>("train",
                              "training examples kept, the same share of each class; 0: all")
        .between(0, 1e9),
    data<&DataSection::test>("test", "test examples kept; 0: all").between(0, 1e9),
    data<&DataSection::length>("length", "words kept of a text").between(1, 4096).when(has_texts),

    model<&ModelSection::kind>("kind", "mlp, cnn, gru with their options, or script"),
    model<&ModelSection::script>("script", "the TorchScript file of kind script").when(has_script),

    training<&TrainingSection::algorithm>("algorithm", "what a client does in a round")
        .one_of(kAlgorithms),
    training<&TrainingSection::rounds>("rounds", "of the whole run").between(1, 1e6),
    training<&TrainingSection::learning_rate>("learning_rate", "before any decay")
        .between(1e-12, 1e6),
    training<&TrainingSection::decay_start>("decay_start", "rounds before the first decay")
        .between(0, 1e6)
        .when(decays),
    training<&TrainingSection::decay_every>("decay_every", "rounds between decays")
        .between(1, 1e6)
        .when(decays),
    training<&TrainingSection::decay>("decay", "factor of the learning rate; 1: none")
        .between(1e-6, 1),
    training<&TrainingSection::local_steps>("local_steps",
                                            "of a client in a round of fedavg or fedprox")
        .between(1, 10000)
        .when(is_local),
    training<&TrainingSection::batch>("batch", "examples of a client's step; 0: all that it has")
        .between(0, 1e9),
    training<&TrainingSection::mu>("mu", "weight of fedprox's pull to the global model")
        .between(0, 1e6)
        .when(is_proximal),
    training<&TrainingSection::momentum>("momentum", "of the server's step").between(0, 0.9999),

    federation<&FederationSection::honest>("honest", "honest clients").between(1, 1 << 20),
    federation<&FederationSection::byzantine>(
        "byzantine", "Byzantine clients, added to the honest ones; none where attack is none")
        .between(0, 1 << 20),
    federation<&FederationSection::participation>("participation",
                                                  "share of the clients in each round")
        .between(1e-6, 1),
    federation<&FederationSection::byzantine_turnout>(
        "byzantine_turnout",
        "with participation below 1: Byzantine clients are sampled like the others and f is "
        "scaled, or all come and f stays")
        .one_of(kTurnouts)
        .when(is_sampled),

    server<&ServerSection::per_class>("per_class",
                                      "the server's samples of each class; 0: it has no data")
        .between(0, 1e6)
        .when(has_no_counts),
    server<&ServerSection::counts>("counts", "a number for each class instead: 40,40,20,20")
        .when(has_counts),
    server<&ServerSection::noise>("noise", "corruption of the server's samples, or none"),
    server<&ServerSection::severity>("severity", "of the noise").between(1, 5).when(has_noise),

    run<&RunSection::evaluate_every>("evaluate_every",
                                     "rounds between evaluations; the last is always evaluated")
        .between(1, 1e6),
    run<&RunSection::gram>("gram", "inner products of the updates: exact, or sketch(length=4096)")
        .when(is_sketched),
};

std::vector<std::string_view> names_in(std::string_view section) {
  std::vector<std::string_view> names;
  for (const Key& each : kKeys) {
    if (each.section == section) names.push_back(each.name);
  }
  return names;
}

std::vector<std::string_view> sections() {
  std::vector<std::string_view> names;
  for (const Key& each : kKeys) {
    if (!each.section.empty() && (names.empty() || names.back() != each.section)) {
      names.push_back(each.section);
    }
  }
  return names;
}

// Another section that has the key, for those who put it in the wrong one; empty: none.
std::string elsewhere(std::string_view name) {
  for (const Key& each : kKeys) {
    if (each.name != name) continue;
    if (each.section.empty()) {
      return fmt::format("; {} stands at the top of the file, before the sections", name);
    }
    return fmt::format("; it belongs to [{}]", each.section);
  }
  return "";
}

}  // namespace

std::string Key::path() const {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

std::string Key::range() const {
  if (type == KeyType::kChoice) return fmt::format("{}", fmt::join(choices, "|"));
  if (type == KeyType::kText) return "";
  if (high == 0) return fmt::format("0..{}", kLargestSeed);
  return fmt::format("{}..{}", detail::print_number(low), detail::print_number(high));
}

std::span<const Key> keys() { return kKeys; }

const Key* find_key(std::string_view path) {
  for (const Key& each : kKeys) {
    if (each.path() == path) return &each;
  }
  return nullptr;
}

Value value_of_text(const Key& key, std::string_view text) {
  if (key.type == KeyType::kText || key.type == KeyType::kChoice) return std::string(text);
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
  return invalid_argument(fmt::format("[{}] is no section{} sections are: {}", excerpt(name),
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
        fmt::format("{} is no key{} keys of [{}] are: {}", path, hint, section, join(known)));
  }
  return invalid_argument(fmt::format("{} is no key{} keys at the top are: {}; sections are: {}",
                                      path, hint, join(known), join(sections())));
}

std::vector<KeyInfo> experiment_keys() {
  constexpr std::string_view kTypes[] = {"text", "integer", "number", "choice"};
  const Experiment defaults;
  std::vector<KeyInfo> infos;
  for (const Key& each : kKeys) {
    infos.push_back({.key = each.path(),
                     .type = std::string(kTypes[static_cast<std::size_t>(each.type)]),
                     .default_value = each.print(each, defaults),
                     .range = each.range(),
                     .help = std::string(each.help)});
  }
  return infos;
}

std::string_view algorithm_name(Algorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}

}  // namespace boba::sim
