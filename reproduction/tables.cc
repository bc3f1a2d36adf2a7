#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "reproduction/page_parts.h"
#include "simulator/report/text.h"

namespace boba::reproduction {
namespace {

using sim::report::escape;

struct Column {
  std::string attack;
  std::string metric;

  bool operator==(const Column&) const = default;
};

// One table: a data set in a setting.
struct Table {
  std::string dataset;
  std::string setting;
  std::vector<std::string> rules;
  std::vector<Column> columns;
  std::vector<const Comparison*> cells;
};

// The rows of a table have the same columns, but the average has no drop against itself.
void merge_column(std::vector<Column>& columns, const Column& column) {
  if (std::find(columns.begin(), columns.end(), column) != columns.end()) return;
  const bool drop = column.metric == "mrd";
  // It stands beside the accuracy that it belongs to.
  const auto place =
      drop ? std::find(columns.begin(), columns.end(), Column{column.attack, "accuracy"})
           : columns.end();
  columns.insert(place == columns.end() ? columns.end() : place + 1, column);
}

std::vector<Table> split(std::span<const Comparison> cells) {
  std::vector<Table> tables;
  for (const Comparison& cell : cells) {
    const auto found = std::find_if(tables.begin(), tables.end(), [&](const Table& table) {
      return table.dataset == cell.dataset && table.setting == cell.setting;
    });
    Table& table = found == tables.end() ? tables.emplace_back() : *found;
    table.dataset = cell.dataset;
    table.setting = cell.setting;
    if (std::find(table.rules.begin(), table.rules.end(), cell.rule) == table.rules.end()) {
      table.rules.push_back(cell.rule);
    }
    merge_column(table.columns, {cell.attack, cell.metric});
    table.cells.push_back(&cell);
  }
  return tables;
}

const Comparison* cell_of(const Table& table, const std::string& rule, const Column& column) {
  for (const Comparison* cell : table.cells) {
    if (cell->rule == rule && cell->attack == column.attack && cell->metric == column.metric) {
      return cell;
    }
  }
  return nullptr;
}

std::string column_title(const Table& table, const Column& column) {
  if (column.metric == "mrd") return "MRD";
  if (column.attack != kNone) return column.attack;
  const bool alone = std::all_of(table.columns.begin(), table.columns.end(),
                                 [](const Column& each) { return each.attack == kNone; });
  return alone ? "accuracy" : "no attack";
}

// The best and the second best of a column: 1, 2, else 0.
int rank_in(const Table& table, const Column& column, const Comparison& cell) {
  if (!cell.ours) return 0;
  int better = 0;
  for (const std::string& rule : table.rules) {
    const Comparison* other = cell_of(table, rule, column);
    if (other == nullptr || !other->ours || other == &cell) continue;
    const bool low = column.metric == "mrd";
    if (low ? *other->ours < *cell.ours : *other->ours > *cell.ours) ++better;
  }
  return better < 2 ? better + 1 : 0;
}

// Numbers of explanations below a table, in the order of their first use.
class Notes {
 public:
  std::size_t number(const std::string& explanation) {
    const std::string text = explanation.empty() ? "not explained yet" : explanation;
    const auto found = std::find(texts_.begin(), texts_.end(), text);
    if (found != texts_.end()) return static_cast<std::size_t>(found - texts_.begin()) + 1;
    texts_.push_back(text);
    return texts_.size();
  }

  std::string html() const {
    if (texts_.empty()) return "";
    std::string list = "<ol class=\"notes\">";
    for (const std::string& text : texts_) list += "<li>" + escape(text) + "</li>";
    return list + "</ol>";
  }

 private:
  std::vector<std::string> texts_;
};

std::string cell_html(const Comparison* cell, int rank, bool quick, Notes& notes) {
  if (cell == nullptr) return "<td class=\"n\">–</td>";
  std::string classes = "n";
  if (rank == 1) classes += " best";
  if (rank == 2) classes += " second";
  if (cell->differs) classes += " differs";
  std::string inside;
  if (!quick) {
    std::string words = value_text(cell->published, cell->published_sd);
    if (cell->printed_worst) words += fmt::format(" (printed {:.1f})", *cell->printed_worst);
    inside += "<span class=\"pub\">" + escape(words.empty() ? "–" : words) + "</span>";
  }
  if (!cell->ours) {
    return fmt::format("<td class=\"{}\">{}<span class=\"none\">not run</span></td>", classes,
                       inside);
  }
  std::string ours = value_text(cell->ours, cell->ours_sd);
  if (cell->seeds < cell->wanted) {
    ours += fmt::format(" ({} of {})", cell->seeds, cell->wanted);
  }
  inside += "<span class=\"ours\">" + escape(ours) + "</span>";
  if (const auto apart = cell->difference(); apart && !quick) {
    inside += fmt::format(
        "<span class=\"diff\">{:+.1f}{}</span>", *apart,
        cell->differs ? fmt::format("<sup>{}</sup>", notes.number(cell->explanation)) : "");
  }
  return fmt::format("<td class=\"{}\" data-v=\"{:.6g}\">{}</td>", classes, *cell->ours, inside);
}

std::string table_html(const PaperResults& results, const Table& table, bool quick) {
  std::vector<Head> heads = {{"rule", false}};
  SeedRange seeds;
  for (const Column& column : table.columns) heads.push_back({column_title(table, column), true});
  for (const Comparison* cell : table.cells) seeds.add(*cell);
  Notes notes;
  std::string rows;
  for (const std::string& rule : table.rules) {
    rows += "<tr><th scope=\"row\">" + escape(rule) + "</th>";
    for (const Column& column : table.columns) {
      const Comparison* cell = cell_of(table, rule, column);
      rows += cell_html(cell, cell == nullptr ? 0 : rank_in(table, column, *cell), quick, notes);
    }
    rows += "</tr>";
  }
  std::string title = dataset_title(table.dataset);
  if (!table.setting.empty()) title += fmt::format(", {} = {}", results.file.axis, table.setting);
  if (quick && seeds.most == 0)
    return "<h3>" + escape(title) + "</h3><p class=\"lead\">Not run.</p>";
  return "<h3>" + escape(title) + "</h3><div class=\"wide\"><table class=\"sortable paper\">" +
         table_head(heads) + "<tbody>" + rows + "</tbody></table></div><p class=\"lead\">" +
         escape(facts_line(results, table.dataset, seeds)) + "</p>" + notes.html();
}

// A long spec may be broken where an option begins.
std::string breakable(std::string_view title) {
  std::string text;
  for (const char c : title) {
    text += c;
    if (c == '(' || c == ',') text += "\u200b";
  }
  return text;
}

}  // namespace

std::string table_head(std::span<const Head> heads) {
  std::string html = "<thead><tr>";
  for (const Head& head : heads) {
    std::string key;
    for (const char c : head.title) {
      if (c >= 'a' && c <= 'z') key += c;
    }
    html += fmt::format(
        "<th scope=\"col\" aria-sort=\"none\" data-key=\"{}\"{}><button type=\"button\">{}"
        "</button></th>",
        key, head.n ? " class=\"n\"" : "", escape(breakable(head.title)));
  }
  return html + "</tr></thead>";
}

std::string value_text(const std::optional<double>& mean, const std::optional<double>& sd) {
  if (!mean) return "";
  return sd ? fmt::format("{:.1f} ± {:.1f}", *mean, *sd) : fmt::format("{:.1f}", *mean);
}

std::string dataset_title(const std::string& dataset) {
  static const std::map<std::string, std::string> titles = {{"mnist", "MNIST"},
                                                            {"cifar10", "CIFAR-10"},
                                                            {"ag-news", "AG-News"},
                                                            {"fashion-mnist", "Fashion-MNIST"}};
  const auto found = titles.find(dataset);
  return found == titles.end() ? dataset : found->second;
}

void SeedRange::add(const Comparison& cell) {
  if (cell.seeds == 0) return;
  fewest = most == 0 ? cell.seeds : std::min(fewest, cell.seeds);
  most = std::max(most, cell.seeds);
}

std::string facts_line(const PaperResults& results, const std::string& dataset,
                       const SeedRange& seeds) {
  const auto found = results.facts.find(dataset);
  if (found == results.facts.end() || found->second.finished == 0 || seeds.most == 0) {
    return "Not run.";
  }
  const DatasetFacts& facts = found->second;
  // What the paper trained on; a smaller set gives other numbers.
  static const std::map<std::string, std::size_t> paper = {
      {"mnist", 60000}, {"cifar10", 50000}, {"ag-news", 120000}};
  std::string text = seeds.fewest < seeds.most ? fmt::format("{} to ", seeds.fewest) : "";
  text += fmt::format("{} · {} training examples", sim::report::counted(seeds.most, "seed"),
                      facts.train);
  const auto full = paper.find(dataset);
  if (full != paper.end() && full->second != facts.train) {
    text += fmt::format(" (the paper has {})", full->second);
  }
  text += fmt::format(", {} test examples · {} rounds · {} honest clients", facts.test,
                      facts.rounds, facts.honest);
  if (!facts.byzantine.empty()) {
    text += fmt::format(", {} Byzantine", fmt::join(facts.byzantine, " or "));
  }
  text += fmt::format(" · boba {}", fmt::join(facts.versions, "; "));
  if (facts.other_data > 0) {
    text += fmt::format(" · {} runs on other data of this name are left out", facts.other_data);
  }
  return text;
}

std::string tables_html(const PaperResults& results, std::span<const Comparison> cells,
                        bool quick) {
  std::string html;
  for (const Table& table : split(cells)) html += table_html(results, table, quick);
  return html;
}

std::string goals_html(std::span<const Goal> goals) {
  std::string rows;
  for (const Goal& goal : goals) {
    const char* mark = goal.state == GoalState::kMet      ? "met"
                       : goal.state == GoalState::kNotMet ? "not-met"
                                                          : "not-run";
    rows +=
        fmt::format("<tr class=\"goal {}\"><td>{}</td><td class=\"state\">{}</td><td>{}</td></tr>",
                    mark, escape(goal.words), name(goal.state), escape(goal.found));
  }
  return "<div class=\"wide\"><table class=\"goals\"><thead><tr><th scope=\"col\">What has to be "
         "reached</th><th scope=\"col\">State</th><th "
         "scope=\"col\">Found</th></tr></thead><tbody>" +
         rows + "</tbody></table></div>";
}

}  // namespace boba::reproduction
