// Verdict: what was decided about whom, and why. fields() is the only description of its fields.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "boba/core/fields.h"

namespace boba {

// A number that a rule knows about a client or a round: score, distance, trust, loss, ...
struct NamedValue {
  static constexpr std::string_view kMany = "numbers by name";

  std::string name = {};
  double value = 0;
};

// What a rule says in a field of its own.
struct Fact {
  static constexpr std::string_view kMany = "facts";
  using Value =
      std::variant<bool, std::size_t, double, std::vector<double>, std::vector<std::string>>;

  const FieldInfo* field = nullptr;  // lives forever
  Value value;
};

// The value of the fact with this name; null where there is none.
template <class T>
const T* find_fact(const std::vector<Fact>& facts, std::string_view name) {
  for (const Fact& fact : facts) {
    if (fact.field->name == name) return &std::get<T>(fact.value);
  }
  return nullptr;
}

// The described fields of an object as facts, and the object of such facts.
template <class T>
std::vector<Fact> facts_of(const T& object) {
  std::vector<Fact> facts;
  each_field(object, [&](const auto& field, const auto& value) {
    facts.push_back({&field, value});
  });
  return facts;
}
template <class T>
T from_facts(const std::vector<Fact>& facts) {
  T object;
  each_field(object, [&](const auto& field, const auto& value) {
    object.*field.read = *find_fact<std::remove_cvref_t<decltype(value)>>(facts, field.name);
  });
  return object;
}

// What a rule reports about a round in fields of its own.
struct RuleReport {
  static constexpr std::string_view kMany = "reports";

  std::string name;   // the key in JSON, the attribute in Python
  std::string title;  // for text
  std::vector<Fact> facts;
  std::string conclusion;  // heads the report's sentences in text

  // REQUIRES: there is such a fact.
  template <class T>
  const T& get(std::string_view fact) const {
    return *find_fact<T>(facts, fact);
  }
};

struct ClientVerdict {
  static constexpr std::string_view kMany = "clients";

  std::size_t index = 0;
  std::string id;
  std::optional<double> weight;
  bool accepted = true;
  bool refused = false;
  std::string reason;
  std::optional<std::size_t> bucket;
  std::optional<std::size_t> copy_of;
  std::vector<Fact> facts;
  std::vector<NamedValue> measures;
  std::vector<double> label_mix;

  static constexpr auto fields() {
    using C = ClientVerdict;
    return std::tuple{
        described("index", &C::index, "row of the client"),
        described("weight", &C::weight,
                  "share of the client's row in the aggregate; null for coordinate rules")
            .if_absent(Absent::kNull),
        described("accepted", &C::accepted, "true if the rule trusts the client"),
        described("refused", &C::refused,
                  "true if the update was unusable; it then had no influence"),
        described("reason", &C::reason, "reason of the decision, in words"),
        described("id", &C::id, "who sent the update").if_absent(Absent::kLeftOut),
        described("bucket", &C::bucket,
                  "the mixed row that contains the client, after a stage that mixes rows")
            .if_absent(Absent::kLeftOut),
        described("copy_of", &C::copy_of,
                  "the first client that sent the same update, or nearly the same")
            .if_absent(Absent::kLeftOut),
        described("facts", &C::facts, "what the rule says of the client in fields of its own"),
        described("label_mix", &C::label_mix,
                  "boba: estimated share of each class; shares add up to 1, and noise or an attack "
                  "makes some negative")
            .if_absent(Absent::kLeftOut),
        described("measures", &C::measures, "numbers of the rule about the client, by name"),
    };
  }
};

struct Verdict {
  std::string rule;
  std::size_t updates = 0;
  std::size_t length = 0;
  std::size_t classes = 0;
  std::size_t refused = 0;
  bool weighted = true;  // false for coordinate rules: then weights is empty
  std::vector<double> weights;
  std::vector<double> server_weights;
  std::vector<ClientVerdict> clients;
  std::vector<std::string> absent;
  std::size_t sketch = 0;
  std::vector<NamedValue> measures;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
  std::vector<RuleReport> reports;

  std::size_t accepted() const;
  std::vector<bool> accepted_flags() const;
  // The rule's report with this name; null where there is none.
  const RuleReport* report(std::string_view name) const;

  static constexpr auto fields() {
    using V = Verdict;
    return std::tuple{
        described("rule", &V::rule,
                  "the rule in its canonical spelling: stages and the options that differ from "
                  "their defaults"),
        described("n", &V::updates, "number of updates"),
        described("d", &V::length, "their length"),
        described("classes", &V::classes, "number of server gradients; 0 if there are none"),
        described("refused", &V::refused, "number of unusable updates"),
        described("weights", &V::weights,
                  "n numbers: the share of each client's row in the aggregate; null for coordinate "
                  "rules")
            .if_absent(Absent::kNull),
        described("server_weights", &V::server_weights,
                  "the share of each server row in the aggregate; may be empty"),
        described("absent", &V::absent, "clients of an open round that did not come in time")
            .if_absent(Absent::kLeftOut),
        described("sketch", &V::sketch,
                  "the length of the sketches that were compared; absent with exact products")
            .if_absent(Absent::kLeftOut),
        described("accepted", &V::accepted_flags, "n booleans"),
        described("clients", &V::clients, "n objects, below"),
        described("measures", &V::measures, "numbers of the rule about the round, by name"),
        described("warnings", &V::warnings, "sentences about guarantees that this round misses"),
        described("notes", &V::notes, "other sentences worth knowing"),
        described("reports", &V::reports, "what the rule reports in fields of its own"),
    };
  }
};

}  // namespace boba
