#include "tools/json.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace boba::tools {
namespace {

Json to_json(const SubspaceReport& subspace) {
  return {
      {"dimension", subspace.dimension},
      {"rank", subspace.rank},
      {"fits", subspace.fits},
      {"converged", subspace.converged},
      {"trimmed_loss", json_numbers(subspace.trimmed_loss)},
      {"singular_values", json_numbers(subspace.singular_values)},
      {"explained_variance", json_numbers(subspace.explained_variance)},
      {"residual_level", json_number(subspace.residual_level)},
      {"noise_singular_value", json_number(subspace.noise_singular_value)},
      {"sigma_bound", json_number(subspace.sigma_bound)},
      {"condition", json_number(subspace.condition)},
      {"guarantee_possible", subspace.guarantee_possible},
      {"statements", subspace.statements},
  };
}

// Measures become keys of the object they belong to; the object's own keys win.
void add_measures(std::span<const NamedValue> measures, Json& object) {
  for (const NamedValue& measure : measures) {
    if (!object.contains(measure.name)) object[measure.name] = json_number(measure.value);
  }
}

Json to_json(const ClientVerdict& client) {
  Json object = {
      {"index", client.index},
      {"weight", client.weight ? json_number(*client.weight) : Json()},
      {"accepted", client.accepted},
      {"refused", client.refused},
      {"reason", client.reason},
  };
  if (!client.id.empty()) object["id"] = client.id;
  if (client.bucket) object["bucket"] = *client.bucket;
  if (client.in_fit) object["in_fit"] = *client.in_fit;
  if (!client.label_mix.empty()) object["label_mix"] = json_numbers(client.label_mix);
  add_measures(client.measures, object);
  return object;
}

// An option's default as JSON's own type: a number where the option is one.
Json typed_default(const OptionInfo& option) {
  if (option.type == "choice") return option.default_value;
  const char* end = option.default_value.data() + option.default_value.size();
  double value = 0;
  const auto [stop, status] = std::from_chars(option.default_value.data(), end, value);
  if (status != std::errc() || stop != end) return option.default_value;
  if (option.type == "integer") return static_cast<long long>(value);
  return json_number(value);
}

Json to_json(const OptionInfo& option) {
  Json object = {{"name", option.name},
                 {"type", option.type},
                 {"default", typed_default(option)},
                 {"help", option.help}};
  if (!option.choices.empty()) {
    object["choices"] = option.choices;
    return object;
  }
  using Limits = std::numeric_limits<double>;
  object["low"] = option.low == Limits::lowest() ? Json() : json_number(option.low);
  object["high"] = option.high == Limits::max() ? Json() : json_number(option.high);
  if (!option.word.empty()) object["word"] = option.word;
  return object;
}

// File names and the like may hold bytes that are no UTF-8; those become U+FFFD. Whatever is not
// ASCII is escaped: the text stays the same, and a terminal has nothing to obey.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json json_numbers(std::span<const double> values) {
  Json array = Json::array();
  for (double value : values) array.push_back(json_number(value));
  return array;
}

Json to_json(const Verdict& verdict) {
  Json report = {
      {"rule", verdict.rule},
      {"n", verdict.updates},
      {"d", verdict.length},
      {"classes", verdict.classes},
      {"refused", verdict.refused},
      {"weights", verdict.weighted ? json_numbers(verdict.weights) : Json()},
      {"server_weights", json_numbers(verdict.server_weights)},
  };
  if (!verdict.absent.empty()) report["absent"] = verdict.absent;
  if (verdict.sketch > 0) report["sketch"] = verdict.sketch;
  Json accepted = Json::array();
  Json clients = Json::array();
  for (const ClientVerdict& client : verdict.clients) {
    accepted.push_back(client.accepted);
    clients.push_back(to_json(client));
  }
  report["accepted"] = std::move(accepted);
  report["clients"] = std::move(clients);
  Json measures = Json::object();
  add_measures(verdict.measures, measures);
  report["measures"] = std::move(measures);
  report["warnings"] = verdict.warnings;
  report["notes"] = verdict.notes;
  if (verdict.subspace) report["subspace"] = to_json(*verdict.subspace);
  return report;
}

Json to_json(const Info& info, std::span<const OptionInfo> options) {
  Json object = {{"name", info.name},         {"summary", info.summary},
                 {"computes", info.computes}, {"condition", info.condition},
                 {"cost", info.cost},         {"citation", info.citation}};
  Json list = Json::array();
  for (const OptionInfo& option : options) list.push_back(to_json(option));
  object["options"] = std::move(list);
  return object;
}

std::string print_json(const Json& json) { return dump(json, 2) + "\n"; }

std::string print_report(const Json& report) {
  std::string text = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : report.items()) {
    text += separator;
    separator = ",\n";
    text += "  " + dump(key, -1) + ": ";
    if (!value.is_array() || value.empty() || !value.front().is_object()) {
      text += dump(value, -1);
      continue;
    }
    text += "[";
    const char* between = "\n    ";
    for (const Json& element : value) {
      text += between + dump(element, -1);
      between = ",\n    ";
    }
    text += "\n  ]";
  }
  return text + "\n}\n";
}

}  // namespace boba::tools
