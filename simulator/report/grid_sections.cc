// Rules against attacks: the heat map, worst cases, largest recall drops, recalls, confusion.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simulator/report/bar_charts.h"
#include "simulator/report/matrix_chart.h"
#include "simulator/report/sections.h"
#include "simulator/report/svg.h"
#include "simulator/report/text.h"

namespace boba::sim::report {
namespace {

constexpr std::size_t kMostRecallPanels = 12;
constexpr std::size_t kMostConfusions = 24;
constexpr std::size_t kMostClassesWithNumbers = 20;
constexpr std::size_t kMostClasses = 100;

std::string wide(const std::string& svg) { return "<div class=\"wide\">" + svg + "</div>"; }

std::vector<std::string> labels_of(const std::vector<Axis>& axes) {
  std::vector<std::string> labels;
  labels.reserve(axes.size());
  for (const Axis& axis : axes) labels.push_back(axis.is_attack() ? axis.label : "no attack");
  return labels;
}

std::vector<std::size_t> hues_of(const std::vector<Axis>& rules) {
  std::vector<std::size_t> hues;
  hues.reserve(rules.size());
  for (const Axis& rule : rules) hues.push_back(rule.hue);
  return hues;
}

// "1 of 2 failed", or nothing: failed seeds are in no mean.
std::string failures(const Cell& cell) {
  return cell.failed == 0 ? "" : fmt::format("{} of {} failed", cell.failed, cell.all);
}

bool any_cell(const Setting& setting, bool (*has)(const Cell&)) {
  return std::any_of(setting.cells.begin(), setting.cells.end(), [&](const std::vector<Cell>& row) {
    return std::any_of(row.begin(), row.end(), has);
  });
}

bool has_accuracy(const Setting& setting) { return most_seeds(setting) > 0; }

MatrixCell accuracy_cell(const Cell& cell, const Domain& domain, const std::string& where) {
  if (cell.accuracy.count == 0) return {.words = cell.failed > 0 ? "failed" : "–"};
  MatrixCell shown;
  shown.shade = bin_of(cell.accuracy.mean, domain, kShades);
  shown.words = percent(cell.accuracy.mean) + (cell.partial ? "*" : "");
  if (cell.accuracy.count > 1)
    shown.second = fmt::format("± {:.1f}", 100 * cell.accuracy.deviation);
  shown.tip = fmt::format("{}: {} % ({} to {}, {})", where,
                          percent(cell.accuracy.mean, cell.accuracy.deviation, cell.accuracy.count),
                          percent(cell.accuracy.low), percent(cell.accuracy.high),
                          counted(cell.accuracy.count, "seed"));
  if (cell.partial) shown.tip += ", not finished";
  if (cell.failed > 0) {
    shown.second = failures(cell);
    shown.tip += ", " + shown.second;
  }
  return shown;
}

Domain accuracy_domain(const Setting& setting) {
  std::vector<double> means;
  for (const std::vector<Cell>& row : setting.cells) {
    for (const Cell& cell : row) {
      if (cell.accuracy.count > 0) means.push_back(cell.accuracy.mean);
    }
  }
  return share_domain(means);
}

bool any_partial(const Setting& setting) {
  return any_cell(setting, [](const Cell& cell) { return cell.partial; });
}

bool any_failed(const Setting& setting) {
  return any_cell(setting, [](const Cell& cell) { return cell.failed > 0; });
}

// The last column: each rule's worst case.
void add_worst_column(Matrix& matrix, const Setting& setting, const Domain& domain) {
  const std::vector<Worst> cases = setting.worst_cases();
  if (cases.empty()) return;
  matrix.apart = matrix.columns.size();
  matrix.columns.emplace_back("worst");
  for (std::vector<MatrixCell>& row : matrix.cells) row.push_back({.words = "–"});
  for (const Worst& worst : cases) {
    const std::string where = setting.rules[worst.rule].label + " at its worst, under " +
                              setting.attacks[worst.attack].label;
    matrix.cells[worst.rule].back() =
        accuracy_cell(setting.cell(worst.rule, worst.attack), domain, where);
    matrix.cells[worst.rule].back().second = clip(setting.attacks[worst.attack].label, 14);
  }
}

// Means over seeds of the recalls of a cell; empty where there are none, NaN for a class that had
// no test examples.
std::vector<double> mean_recall(const Cell& cell) {
  std::vector<double> sums;
  std::vector<double> counts;
  for (const RunData* run : cell.runs) {
    if (run->recall.empty() || (!sums.empty() && sums.size() != run->recall.size())) continue;
    sums.resize(run->recall.size(), 0);
    counts.resize(run->recall.size(), 0);
    for (std::size_t z = 0; z < sums.size(); ++z) {
      if (!std::isfinite(run->recall[z])) continue;
      sums[z] += run->recall[z];
      counts[z] += 1;
    }
  }
  for (std::size_t z = 0; z < sums.size(); ++z) sums[z] /= counts[z];
  return sums;
}

std::string recall_panel(const Setting& setting, std::size_t attack) {
  Matrix matrix;
  const Axis& axis = setting.attacks[attack];
  const std::size_t classes = std::min(setting.classes.size(), kMostClasses);
  matrix.title = "Recall of each class, " + (axis.is_attack() ? axis.label : "no attack");
  matrix.description = "A row for each rule, a column for each class";
  matrix.heading = axis.is_attack() ? axis.label : "no attack";
  matrix.slanted = true;
  matrix.cell_width = classes > kMostClassesWithNumbers ? 12 : 34;
  matrix.cell_height = 24;
  matrix.columns.assign(setting.classes.begin(),
                        setting.classes.begin() + static_cast<std::ptrdiff_t>(classes));
  for (std::size_t rule = 0; rule < setting.rules.size(); ++rule) {
    const std::vector<double> recall = mean_recall(setting.cell(rule, attack));
    if (recall.empty()) continue;
    matrix.rows.push_back(setting.rules[rule].label);
    matrix.hues.push_back(setting.rules[rule].hue);
    std::vector<MatrixCell> row(classes);
    for (std::size_t z = 0; z < std::min(classes, recall.size()); ++z) {
      if (!std::isfinite(recall[z])) {
        row[z].words = "–";
        continue;
      }
      row[z].shade = bin_of(recall[z], {0, 1}, kShades);
      if (classes <= kMostClassesWithNumbers) row[z].words = fmt::format("{:.0f}", 100 * recall[z]);
      row[z].tip = fmt::format("{}, {}: {} %", clip(setting.rules[rule].label, 40),
                               clip(setting.classes[z], 40), percent(recall[z]));
    }
    matrix.cells.push_back(std::move(row));
  }
  return matrix.rows.empty() ? "" : matrix_chart(matrix);
}

std::string confusion_chart(const Setting& setting, const RunData& run, const std::string& title) {
  const std::size_t classes = run.recall.size();
  Matrix matrix;
  matrix.title = title;
  matrix.description = "A row for each true class, a column for each predicted one";
  matrix.row_title = "truth";
  matrix.column_title = "prediction";
  matrix.slanted = true;
  const bool numbers = classes <= kMostClassesWithNumbers;
  matrix.cell_width = numbers ? 48 : 10;
  matrix.cell_height = numbers ? 28 : 10;
  for (std::size_t z = 0; z < classes; ++z) {
    matrix.rows.push_back(setting.classes[z]);
    matrix.columns.push_back(setting.classes[z]);
    std::int64_t total = 0;
    for (std::size_t j = 0; j < classes; ++j) total += run.confusion[z * classes + j];
    std::vector<MatrixCell> row(classes);
    for (std::size_t j = 0; j < classes; ++j) {
      const std::int64_t count = run.confusion[z * classes + j];
      const double share = total > 0 ? static_cast<double>(count) / static_cast<double>(total) : 0;
      row[j].shade = count == 0 ? 0 : bin_of(share, {0, 1}, kShades);
      if (numbers && count != 0) row[j].words = fmt::format("{}", count);
      if (numbers && count != 0) {
        row[j].tip = fmt::format("{} taken for {}: {} of {}", clip(setting.classes[z], 30),
                                 clip(setting.classes[j], 30), count, total);
      }
    }
    matrix.cells.push_back(std::move(row));
  }
  return matrix_chart(matrix);
}

}  // namespace

std::optional<Section> grid_section(const Setting& setting) {
  if (!has_accuracy(setting)) return std::nullopt;
  const Domain domain = accuracy_domain(setting);
  Matrix matrix;
  matrix.title = "Final accuracy of rules under attacks";
  matrix.description =
      "A row for each rule, a column for each attack; the table below has the numbers";
  matrix.rows = labels_of(setting.rules);
  matrix.hues = hues_of(setting.rules);
  matrix.columns = labels_of(setting.attacks);
  matrix.cell_height = 42;
  // "1 of 2 failed" is wider than a number.
  matrix.cell_width = std::clamp(960.0 / static_cast<double>(setting.attacks.size() + 1),
                                 any_failed(setting) ? 78.0 : 58.0, 128.0);
  for (std::size_t rule = 0; rule < setting.rules.size(); ++rule) {
    std::vector<MatrixCell> row;
    for (std::size_t attack = 0; attack < setting.attacks.size(); ++attack) {
      const std::string where = setting.rules[rule].label + ", " + matrix.columns[attack];
      row.push_back(accuracy_cell(setting.cell(rule, attack), domain, where));
    }
    matrix.cells.push_back(std::move(row));
  }
  add_worst_column(matrix, setting, domain);
  std::string caption =
      "Final test accuracy in percent, mean and standard deviation over seeds; darker is better "
      "on a light page, brighter on a dark one.";
  if (matrix.apart) {
    caption += " The column apart is the lowest mean over the attacks, and which attack that was.";
  }
  if (any_partial(setting)) caption += " A star marks runs that have not finished.";
  if (any_failed(setting)) caption += " Means are over the seeds whose runs did not fail.";
  return Section{"grid", "Rules against attacks",
                 wide(matrix_chart(matrix)) + shade_key(domain, "accuracy"), caption};
}

std::optional<Section> worst_section(const Setting& setting) {
  const std::vector<Worst> cases = setting.worst_cases();
  if (cases.empty()) return std::nullopt;
  std::vector<WorstBar> bars;
  std::vector<std::string> words;
  bool incomplete = false;
  const auto attacks = std::count_if(setting.attacks.begin(), setting.attacks.end(),
                                     [](const Axis& attack) { return attack.is_attack(); });
  for (const Worst& worst : cases) {
    WorstBar bar;
    bar.label = setting.rules[worst.rule].label;
    bar.hue = setting.rules[worst.rule].hue;
    bar.worst = worst.accuracy.mean;
    bar.low = worst.accuracy.low;
    bar.high = worst.accuracy.high;
    const Cell& first = setting.cell(worst.rule, 0);
    if (!setting.attacks[0].is_attack() && first.accuracy.count > 0) {
      bar.unattacked = first.accuracy.mean;
    }
    bar.words = percent(bar.worst, worst.accuracy.deviation, worst.accuracy.count) + " % under " +
                setting.attacks[worst.attack].label;
    if (setting.cell(worst.rule, worst.attack).partial) bar.words += "*";
    if (!worst.complete) {
      bar.words += fmt::format(" ({} of {})", worst.attacks, attacks);
      incomplete = true;
    }
    words.push_back(clip(bar.label, 40) + " " + bar.words);
    bars.push_back(std::move(bar));
  }
  std::string caption =
      "A rule is as good as it is under the attack that hurts it most. Bars: lowest mean "
      "accuracy over the attacks, best rule first; whiskers: from the lowest to the "
      "highest seed of that attack; upright mark: the rule's accuracy without attack.";
  if (incomplete) {
    caption += " In brackets: attacks with a result so far. Unfinished rules come last.";
  }
  return Section{"worst", "Worst case of each rule", wide(worst_bars(bars, listed(words, 40))),
                 caption};
}

std::optional<Section> mrd_section(const Setting& setting) {
  BarTable table;
  table.title = "Largest drop of a class's recall";
  table.description = "A row for each rule, a column for each attack, in percentage points";
  table.columns = labels_of(setting.attacks);
  table.rows = labels_of(setting.rules);
  table.hues = hues_of(setting.rules);
  bool any = false;
  for (std::size_t rule = 0; rule < setting.rules.size(); ++rule) {
    std::vector<BarCell> row;
    for (std::size_t attack = 0; attack < setting.attacks.size(); ++attack) {
      const Statistics& mrd = setting.cell(rule, attack).mrd;
      BarCell cell;
      if (mrd.count > 0) {
        any = true;
        cell.value = mrd.mean;
        cell.low = mrd.low;
        cell.high = mrd.high;
        cell.words = percent(mrd.mean);
        cell.tip = fmt::format("{}, {}: {} points ({} to {})", clip(table.rows[rule], 40),
                               clip(table.columns[attack], 40),
                               percent(mrd.mean, mrd.deviation, mrd.count), percent(mrd.low),
                               percent(mrd.high));
      }
      row.push_back(std::move(cell));
    }
    table.cells.push_back(std::move(row));
  }
  if (!any) return std::nullopt;
  return Section{"mrd", "Largest recall drop (MRD)", legend(setting.rules) + wide(bar_table(table)),
                 "How many percentage points the class that suffers most loses in recall against "
                 "plain averaging without attackers, same seed. Without attack this measures "
                 "whether a rule is fair to clients with rare labels: 0 is unbiased. Shorter is "
                 "better; whiskers reach from the lowest to the highest seed."};
}

std::optional<Section> recall_section(const Setting& setting) {
  std::vector<std::string> panels;
  for (std::size_t attack = 0; attack < setting.attacks.size(); ++attack) {
    std::string panel = recall_panel(setting, attack);
    if (!panel.empty()) panels.push_back(std::move(panel));
  }
  if (panels.empty()) return std::nullopt;
  const std::size_t shown = std::min(kMostRecallPanels, panels.size());
  std::string body = "<div class=\"panels roomy\">";
  for (std::size_t i = 0; i < shown; ++i) body += wide(panels[i]);
  body += "</div>" + shade_key({0, 1}, "recall");
  std::string caption =
      "Share of each class's test examples that the final model gets right, in percent, mean over "
      "seeds. A column that stands out low is a class that was lost; a dash is a class without "
      "test examples.";
  if (setting.classes.size() > kMostClasses) {
    caption += fmt::format(" The first {} classes are drawn.", kMostClasses);
  }
  return Section{"recall", "Recall of each class", body,
                 caption + left_out(panels.size(), shown, "attacks")};
}

std::optional<Section> confusion_section(const Setting& setting, std::size_t index) {
  std::string options;
  std::string charts;
  std::size_t all = 0;
  std::size_t shown = 0;
  for (std::size_t attack = 0; attack < setting.attacks.size(); ++attack) {
    for (std::size_t rule = 0; rule < setting.rules.size(); ++rule) {
      const Cell& cell = setting.cell(rule, attack);
      const auto run = std::find_if(cell.runs.begin(), cell.runs.end(), [](const RunData* each) {
        return !each->confusion.empty() && each->recall.size() <= kMostClasses;
      });
      if (run == cell.runs.end()) continue;
      if (++all > kMostConfusions) continue;
      const Axis& axis = setting.attacks[attack];
      const std::string title = fmt::format("{}, {}, seed {}", clip(setting.rules[rule].label, 60),
                                            axis.is_attack() ? clip(axis.label, 60) : "no attack",
                                            (*run)->record.header.seed);
      const std::string id = fmt::format("confusion-{}-{}", index, shown);
      options += fmt::format("<option value=\"{}\">{}</option>", id, escape(title));
      charts += fmt::format("<div class=\"wide choice\" id=\"{}\"{}>{}</div>", id,
                            shown == 0 ? "" : " hidden", confusion_chart(setting, **run, title));
      ++shown;
    }
  }
  if (shown == 0) return std::nullopt;
  const std::string body = "<label class=\"chooser\">Run <select data-chooser>" + options +
                           "</select></label><div class=\"choices\">" + charts + "</div>";
  return Section{"confusion", "Confusion matrix", body,
                 "Test examples of each true class (rows) by predicted class (columns) after the "
                 "last round of the chosen run; shades are shares of the row. A dark column is a "
                 "class that swallows the others." +
                     left_out(all, shown, "runs")};
}

}  // namespace boba::sim::report
