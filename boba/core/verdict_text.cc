#include "boba/core/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "boba/text/table.h"

namespace boba {
namespace {

constexpr std::size_t kWidth = 98;

// "name      a b c", wrapped below its first value.
std::string named_values(std::string_view name, std::span<const double> values,
                         std::string_view separator, double factor, std::string_view unit) {
  std::string list;
  for (double value : values) {
    if (!list.empty()) list += separator;
    list += unit.empty() ? short_number(value * factor) : fmt::format("{:.1f}", value * factor);
    list += unit;
  }
  return wrap(fmt::format("{:.<20} {}", fmt::format("{} ", name), list), kWidth, 2, 23);
}

std::string bullets(std::string_view title, std::span<const std::string> sentences) {
  if (sentences.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  for (const std::string& sentence : sentences) text += wrap("- " + sentence, kWidth, 2, 4);
  return text;
}

std::string fact_text(const Fact& fact, const std::string& conclusion) {
  const FieldInfo& field = *fact.field;
  if (const auto* sentences = std::get_if<std::vector<std::string>>(&fact.value)) {
    return bullets(conclusion, *sentences);
  }
  std::span<const double> numbers;
  if (const auto* one = std::get_if<double>(&fact.value)) numbers = {one, 1};
  if (const auto* many = std::get_if<std::vector<double>>(&fact.value)) numbers = *many;
  const bool percent = field.style == Style::kPercent;
  return named_values(field.label, numbers, field.style == Style::kSteps ? " -> " : " ",
                      percent ? 100 : 1, percent ? "%" : "");
}

std::string report_text(const RuleReport& report) {
  std::string text = fmt::format("\n{}\n", report.title);
  for (const Fact& fact : report.facts) {
    if (!fact.field->label.empty()) text += fact_text(fact, report.conclusion);
  }
  return text;
}

// The two largest shares and the least: "3: 52%, 7: 46%, min -1%".
std::string label_mix_text(std::span<const double> shares) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t shown = std::min<std::size_t>(2, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  // Adding 0 turns the -0 of a rounded small share into 0.
  const auto percent = [](double share) { return std::round(100 * share) + 0.0; };
  std::string text;
  for (std::size_t k = 0; k < shown; ++k) {
    text += fmt::format("{}: {:.0f}%, ", order[k], percent(shares[order[k]]));
  }
  const double least = *std::min_element(shares.begin(), shares.end());
  return text + fmt::format("min {:.0f}%", percent(least));
}

// A cell; a dash if the client has no value.
using Text = std::optional<std::string>;

Text flag_text(const ClientVerdict& client, std::string_view name) {
  for (const Fact& fact : client.facts) {
    if (fact.field->name == name) return std::get<bool>(fact.value) ? "yes" : "no";
  }
  return std::nullopt;
}

Text measure_text(const ClientVerdict& client, std::string_view name) {
  for (const NamedValue& measure : client.measures) {
    if (measure.name == name) return short_number(measure.value);
  }
  return std::nullopt;
}

std::string round_text(const Verdict& verdict) {
  std::string text = bullets("Warnings", verdict.warnings);
  text += bullets("Notes", verdict.notes);
  if (!verdict.measures.empty()) {
    text += "\nMeasured\n";
    for (const NamedValue& measure : verdict.measures) {
      text += named_values(measure.name, std::span(&measure.value, 1), " ", 1, "");
    }
  }
  if (std::any_of(verdict.server_weights.begin(), verdict.server_weights.end(),
                  [](double weight) { return weight != 0; })) {
    text += "\nServer rows in the output\n";
    text += named_values("weights", verdict.server_weights, " ", 1, "");
  }
  for (const RuleReport& report : verdict.reports) text += report_text(report);
  return text;
}

}  // namespace

std::string headline(const Verdict& verdict) {
  std::string text = fmt::format("{} accepted {} of {} updates", verdict.rule, verdict.accepted(),
                                 verdict.updates);
  if (verdict.refused > 0) text += fmt::format(", refused {} as unusable", verdict.refused);
  return text;
}

std::string clients_text(std::span<const ClientVerdict> clients, Reasons reasons) {
  using C = ClientVerdict;
  std::vector<Table::Column> columns;
  std::vector<std::vector<std::string>> rows(clients.size());
  // A column is left out if no client has a value for it.
  const auto add = [&](std::string_view title, Align align, const auto& cell) {
    std::vector<Text> cells;
    for (const C& client : clients) cells.push_back(cell(client));
    if (std::none_of(cells.begin(), cells.end(), [](const Text& text) { return !!text; })) return;
    columns.push_back({std::string(title), align});
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(cells[i].value_or("-"));
  };
  add("client", Align::kRight, [](const C& c) { return fmt::format("{}", c.index); });
  add("id", Align::kLeft, [](const C& c) { return c.id.empty() ? Text() : c.id; });
  add("accepted", Align::kLeft, [](const C& c) {
    if (c.refused) return "refused";
    return c.accepted ? "yes" : "no";
  });
  add("weight", Align::kRight,
      [](const C& c) { return c.weight ? short_number(*c.weight) : Text(); });
  add("bucket", Align::kRight,
      [](const C& c) { return c.bucket ? fmt::format("{}", *c.bucket) : Text(); });
  add("copy of", Align::kRight,
      [](const C& c) { return c.copy_of ? fmt::format("{}", *c.copy_of) : Text(); });
  // The rule's flags, then its numbers, in the order of first appearance.
  std::set<std::string_view> seen;
  for (const C& client : clients) {
    for (const Fact& fact : client.facts) {
      const std::string_view name = fact.field->name;
      if (!std::holds_alternative<bool>(fact.value) || !seen.insert(name).second) continue;
      add(fact.field->label, Align::kLeft, [&](const C& c) { return flag_text(c, name); });
    }
  }
  for (const C& client : clients) {
    for (const NamedValue& measure : client.measures) {
      if (!seen.insert(measure.name).second) continue;
      add(measure.name, Align::kRight, [&](const C& c) { return measure_text(c, measure.name); });
    }
  }
  add("label mix", Align::kLeft,
      [](const C& c) { return c.label_mix.empty() ? Text() : label_mix_text(c.label_mix); });
  if (reasons == Reasons::kShown) add("why", Align::kLeft, [](const C& c) { return c.reason; });
  Table table(std::move(columns));
  for (auto& row : rows) table.add(std::move(row));
  return table.text();
}

std::string verdict_text(const Verdict& verdict, std::string_view remark) {
  return fmt::format("{}{}\n{}\n{}", headline(verdict), remark, round_text(verdict),
                     clients_text(verdict.clients));
}

}  // namespace boba
