#include "reproduction/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduction/csv_text.h"
#include "reproduction/earlier.h"
#include "simulator/report/statistics.h"
#include "simulator/report/text.h"

namespace boba::reproduction {
namespace {

// pattern: one value, or several as "lie|mimic"; empty or "*": any.
bool fits(const std::string& pattern, const std::string& value) {
  if (pattern.empty() || pattern == "*") return true;
  const std::vector<std::string> values = parts_of(pattern, "|");
  return std::find(values.begin(), values.end(), value) != values.end();
}

const Published* find_published(std::span<const Published> all, const Comparison& c,
                                std::string_view attack) {
  for (const Published& each : all) {
    if (each.dataset == c.dataset && fits(each.setting, c.setting) && each.rule == c.rule &&
        each.attack == attack && each.metric == c.metric) {
      return &each;
    }
  }
  return nullptr;
}

// The worst of a row is computed: some that the paper prints are not those of their rows.
void publish_worst(std::span<const Published> all, std::span<const std::string> attacks,
                   Comparison& c) {
  for (const std::string& attack : attacks) {
    if (attack == kNone) continue;
    const Published* each = find_published(all, c, attack);
    if (each == nullptr) {
      c.published = {};
      c.published_sd = {};
      return;
    }
    if (c.published && each->mean >= *c.published) continue;
    c.published = each->mean;
    c.published_sd = each->sd;
  }
  const Published* printed = find_published(all, c, kWorst);
  if (c.published && printed != nullptr && std::abs(printed->mean - *c.published) > 0.05) {
    c.printed_worst = printed->mean;
  }
}

void publish(std::span<const Published> all, std::span<const std::string> attacks, Comparison& c) {
  if (c.attack == kWorst) return publish_worst(all, attacks, c);
  const Published* found = find_published(all, c, c.attack);
  if (found == nullptr) return;
  c.published = found->mean;
  c.published_sd = found->sd;
}

void summarise(const Numbers& numbers, Comparison& c) {
  c.by_seed = numbers.by_seed;
  c.seeds = numbers.seeds();
  if (c.seeds == 0) return;
  if (c.seeds > c.by_seed.size()) {
    c.ours = numbers.summary->mean;
    c.ours_sd = numbers.summary->sd;
    return;
  }
  std::vector<double> values;
  for (const auto& each : c.by_seed) values.push_back(each.second);
  const sim::report::Statistics statistics = sim::report::statistics_of(values);
  c.ours = statistics.mean;
  c.ours_sd = statistics.known_deviation();
}

void judge(std::span<const Explanation> explanations, Comparison& c) {
  const std::optional<double> apart = c.difference();
  c.differs = apart && std::abs(*apart) > allowed_difference(c.published_sd);
  if (!c.differs) return;
  for (const Explanation& each : explanations) {
    if (fits(each.experiment, c.experiment) && fits(each.dataset, c.dataset) &&
        fits(each.setting, c.setting) && fits(each.rule, c.rule) && fits(each.attack, c.attack) &&
        fits(each.metric, c.metric)) {
      c.explanation = each.text;
      return;
    }
  }
}

// The lowest mean over the attacks; nothing where one has not been run.
void worst_of(std::span<const Comparison> row, Comparison& worst) {
  std::size_t attacks = 0;
  for (const Comparison& each : row) {
    if (each.attack == kNone || each.metric != "accuracy") continue;
    ++attacks;
    worst.wanted = std::max(worst.wanted, each.wanted);
    if (!each.ours) {
      worst.ours = {};
      worst.by_seed.clear();
      worst.seeds = 0;
      return;
    }
    if (worst.ours && *each.ours >= *worst.ours) continue;
    worst.ours = each.ours;
    worst.ours_sd = each.ours_sd;
    worst.by_seed = each.by_seed;
    worst.seeds = each.seeds;
  }
}

class Maker {
 public:
  // drops: tables have a column of them, as the paper's do.
  Maker(const PaperResults& results, std::span<const Published> published,
        std::span<const Explanation> explanations, bool drops)
      : results_(results), published_(published), explanations_(explanations), drops_(drops) {}

  std::vector<Comparison> make() {
    for (const std::string& dataset : results_.datasets) {
      for (const std::string& setting : results_.settings) {
        for (const std::string& second : results_.seconds) {
          for (const std::string& rule : results_.rules)
            add_row({dataset, setting, second, rule, ""});
        }
      }
    }
    return std::move(all_);
  }

 private:
  void add_row(CellKey key) {
    const std::size_t first = all_.size();
    std::size_t attacks = 0;
    for (const std::string& attack : results_.attacks) {
      key.attack = attack;
      const auto found = results_.cells.find(key);
      if (found == results_.cells.end()) continue;
      if (attack != kNone) ++attacks;
      add(key, "accuracy", found->second, found->second.accuracy);
      // Against itself the average has no drop.
      const bool baseline = key.rule == "average";
      if (attack == kNone && drops_ && !baseline) add(key, "mrd", found->second, found->second.mrd);
    }
    if (attacks < 2) return;
    key.attack = kWorst;
    Comparison worst = start(key, "accuracy");
    worst_of(std::span(all_).subspan(first), worst);
    finish(std::move(worst));
  }

  Comparison start(const CellKey& key, const char* metric) const {
    Comparison c;
    c.experiment = results_.file.name;
    c.dataset = key.dataset;
    c.setting = key.setting;
    c.second = key.second;
    c.rule = key.rule;
    c.attack = key.attack;
    c.metric = metric;
    return c;
  }

  void add(const CellKey& key, const char* metric, const Cell& cell, const Numbers& numbers) {
    Comparison c = start(key, metric);
    c.wanted = cell.seeds.size();
    summarise(numbers, c);
    finish(std::move(c));
  }

  void finish(Comparison c) {
    publish(published_, results_.attacks, c);
    judge(explanations_, c);
    all_.push_back(std::move(c));
  }

  const PaperResults& results_;
  std::span<const Published> published_;
  std::span<const Explanation> explanations_;
  bool drops_;
  std::vector<Comparison> all_;
};

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "";
}

}  // namespace

std::optional<double> Comparison::difference() const {
  if (!published || !ours) return std::nullopt;
  return *ours - *published;
}

std::string Comparison::flag() const {
  if (!ours) return "not run";
  if (!published) return "";
  return differs ? "differs" : "agrees";
}

double allowed_difference(const std::optional<double>& published_sd, double least) {
  return std::max(least, 2 * published_sd.value_or(0));
}

std::vector<Comparison> compare(const PaperResults& results, std::span<const Published> published,
                                std::span<const Explanation> explanations, bool quick) {
  // Tables that compare with nothing published have a column of drops too.
  const bool drops = (results.file.kind == Kind::kTable && results.file.published.empty()) ||
                     std::any_of(published.begin(), published.end(),
                                 [](const Published& each) { return each.metric == "mrd"; });
  if (quick) published = {};
  return Maker(results, published, explanations, drops).make();
}

const Comparison* find(std::span<const Comparison> all, std::string_view dataset,
                       std::string_view setting, std::string_view rule, std::string_view attack,
                       std::string_view metric) {
  for (const Comparison& each : all) {
    if (each.dataset == dataset && each.setting == setting && each.rule == rule &&
        each.attack == attack && each.metric == metric) {
      return &each;
    }
  }
  return nullptr;
}

std::string setting_text(const Comparison& comparison) {
  return setting_text(comparison.setting, comparison.second);
}

std::string to_csv(std::span<const Comparison> all) {
  const std::vector<std::string> head(std::begin(kNumberColumns), std::end(kNumberColumns));
  std::string text = sim::report::csv_line(head);
  for (const Comparison& c : all) {
    const std::vector<std::string> cells = {c.experiment,
                                            c.dataset,
                                            c.rule,
                                            c.attack,
                                            setting_text(c),
                                            c.metric,
                                            csv_number(c.published),
                                            csv_number(c.published_sd),
                                            csv_number(c.ours),
                                            csv_number(c.ours_sd),
                                            std::to_string(c.seeds),
                                            csv_number(c.difference()),
                                            c.flag(),
                                            seeds_cell(c.by_seed)};
    text += sim::report::csv_line(cells);
  }
  return text;
}

}  // namespace boba::reproduction
