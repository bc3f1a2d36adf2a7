#include "tools/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boba/core/table.h"

namespace boba::tools {
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

std::string subspace_text(const SubspaceReport& subspace) {
  std::string text =
      fmt::format("\nSubspace of the honest updates: {} of {} directions found, {} fit{}, {}\n",
                  subspace.rank, subspace.dimension, subspace.fits, subspace.fits == 1 ? "" : "s",
                  subspace.converged ? "the fitted set settled" : "the fitted set did not settle");
  text += named_values("trimmed loss", subspace.trimmed_loss, " -> ", 1, "");
  text += named_values("singular values", subspace.singular_values, " ", 1, "");
  text += named_values("explained variance", subspace.explained_variance, " ", 100, "%");
  const double levels[] = {subspace.residual_level, subspace.sigma_bound};
  text += named_values("residual level", std::span(levels, 1), " ", 1, "");
  text += named_values("sigma at most", std::span(levels + 1, 1), " ", 1, "");
  text += bullets(subspace.guarantee_possible ? "Guarantee: nothing seen in this round rules it out"
                                              : "Guarantee: ruled out in this round",
                  subspace.statements);
  return text;
}

// What the rule measured of clients: every name once, in the order of first appearance.
std::vector<std::string> measure_names(std::span<const ClientVerdict> clients) {
  std::vector<std::string> names;
  for (const ClientVerdict& client : clients) {
    for (const NamedValue& measure : client.measures) {
      if (std::find(names.begin(), names.end(), measure.name) == names.end()) {
        names.push_back(measure.name);
      }
    }
  }
  return names;
}

std::string measure_text(const ClientVerdict& client, const std::string& name) {
  for (const NamedValue& measure : client.measures) {
    if (measure.name == name) return short_number(measure.value);
  }
  return "-";
}

template <class Has>
bool any(std::span<const ClientVerdict> clients, Has has) {
  return std::any_of(clients.begin(), clients.end(), has);
}

}  // namespace

std::string headline(const Verdict& verdict) {
  std::string text = fmt::format("{} accepted {} of {} updates", verdict.rule, verdict.accepted(),
                                 verdict.updates);
  if (verdict.refused > 0) text += fmt::format(", refused {} as unusable", verdict.refused);
  return text;
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
  if (verdict.subspace) text += subspace_text(*verdict.subspace);
  return text;
}

std::string clients_text(std::span<const ClientVerdict> clients, Reasons reasons) {
  const bool ids = any(clients, [](const ClientVerdict& c) { return !c.id.empty(); });
  const bool weights = any(clients, [](const ClientVerdict& c) { return c.weight.has_value(); });
  const bool buckets = any(clients, [](const ClientVerdict& c) { return c.bucket.has_value(); });
  const bool fits = any(clients, [](const ClientVerdict& c) { return c.in_fit.has_value(); });
  const bool mixes = any(clients, [](const ClientVerdict& c) { return !c.label_mix.empty(); });
  const std::vector<std::string> measures = measure_names(clients);
  std::vector<Table::Column> columns{{"client", Align::kRight}};
  if (ids) columns.push_back({"id"});
  columns.push_back({"accepted"});
  if (weights) columns.push_back({"weight", Align::kRight});
  if (buckets) columns.push_back({"bucket", Align::kRight});
  if (fits) columns.push_back({"in fit"});
  for (const std::string& name : measures) columns.push_back({name, Align::kRight});
  if (mixes) columns.push_back({"label mix"});
  if (reasons == Reasons::kShown) columns.push_back({"why"});
  Table table(columns);
  for (const ClientVerdict& client : clients) {
    std::vector<std::string> cells{fmt::format("{}", client.index)};
    if (ids) cells.push_back(client.id);
    cells.push_back(client.refused ? "refused" : client.accepted ? "yes" : "no");
    if (weights) cells.push_back(client.weight ? short_number(*client.weight) : "-");
    if (buckets) cells.push_back(client.bucket ? fmt::format("{}", *client.bucket) : "-");
    if (fits) cells.push_back(!client.in_fit ? "-" : *client.in_fit ? "yes" : "no");
    for (const std::string& name : measures) cells.push_back(measure_text(client, name));
    if (mixes) cells.push_back(label_mix_text(client.label_mix));
    if (reasons == Reasons::kShown) cells.push_back(client.reason);
    table.add(std::move(cells));
  }
  return table.text();
}

std::string label_mix_text(std::span<const double> shares) {
  if (shares.empty()) return "-";
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

}  // namespace boba::tools
