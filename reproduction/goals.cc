#include "reproduction/goals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "boba/core/spec.h"
#include "boba/text/names.h"
#include "boba/text/printable.h"
#include "reproduction/csv_text.h"
#include "reproduction/embedded.h"
#include "simulator/report/text.h"

namespace boba::reproduction {
namespace {

// Whether anything violates it, and whether anything is missing.
class Verdict {
 public:
  void check(const Comparison* c, bool good, const std::string& words) {
    if (c == nullptr || !c->ours) {
      ++missing_;
      return;
    }
    ++seen_;
    if (!good) faults_.push_back(words);
  }

  Goal goal(std::string words, const std::string& found) const {
    Goal goal{std::move(words), GoalState::kMet, found};
    if (!faults_.empty()) {
      goal.state = GoalState::kNotMet;
      goal.found = sim::report::listed(faults_, 6);
    } else if (missing_ > 0 || seen_ == 0) {
      goal.state = GoalState::kNotRun;
      goal.found = seen_ == 0 ? ""
                              : fmt::format("{} of {} cells, all of them good so far", seen_,
                                            seen_ + missing_);
    }
    return goal;
  }

 private:
  std::size_t seen_ = 0;
  std::size_t missing_ = 0;
  std::vector<std::string> faults_;
};

double ours_of(const Comparison* c) { return c != nullptr && c->ours ? *c->ours : NAN; }

using Tables = std::vector<std::span<const Comparison>>;

const Comparison* find_in(const Tables& tables, const Target& target, std::string_view attack,
                          std::string_view metric) {
  for (const auto& table : tables) {
    if (const auto* c = find(table, target.dataset, "", target.rules[0], attack, metric)) return c;
  }
  return nullptr;
}

// Accuracies of some rules, in every column but the worst.
Goal agrees(const Target& target, const Tables& tables) {
  Verdict verdict;
  double largest = 0;
  for (const std::string& rule : target.rules) {
    for (const auto& table : tables) {
      for (const Comparison& c : table) {
        if (c.dataset != target.dataset || c.rule != rule || c.metric != "accuracy" ||
            c.attack == kWorst) {
          continue;
        }
        const double apart = c.difference().value_or(NAN);
        if (c.ours) largest = std::max(largest, std::abs(apart));
        verdict.check(&c,
                      std::abs(apart) <= allowed_difference(c.published_sd, target.within.number),
                      fmt::format("{} under {}: {:+.1f}", rule, c.attack, apart));
      }
    }
  }
  return verdict.goal(
      fmt::format("{}: {} within max({} points, 2 sd) of the paper in every column", target.subject,
                  sim::report::listed(target.rules), target.within.text),
      fmt::format("largest difference {:.1f} points", largest));
}

Goal worst_case(const Target& target, const Tables& tables) {
  const Comparison* worst = find_in(tables, target, kWorst, "accuracy");
  const double ours = ours_of(worst);
  Verdict verdict;
  verdict.check(worst, ours >= target.value.number, fmt::format("it is {:.1f}", ours));
  return verdict.goal(fmt::format("{}: {}'s worst case is at least {}", target.subject,
                                  target.rules[0], target.value.text),
                      fmt::format("{:.1f}", ours));
}

// Of the rules that have run under every attack.
Goal first_by_worst_case(const Target& target, const Tables& tables) {
  const std::string& rule = target.rules[0];
  const Comparison* own = find_in(tables, target, kWorst, "accuracy");
  const Comparison* next = nullptr;
  std::size_t rules = 0;
  for (const auto& table : tables) {
    for (const Comparison& c : table) {
      if (c.dataset != target.dataset || c.attack != kWorst || !c.ours) continue;
      ++rules;
      if (c.rule != rule && (next == nullptr || *c.ours > *next->ours)) next = &c;
    }
  }
  Verdict verdict;
  const double ours = ours_of(own);
  verdict.check(own, next == nullptr || ours >= *next->ours,
                next == nullptr ? ""
                                : fmt::format("{} has {:.1f}, {} {:.1f}", next->rule, ours_of(next),
                                              rule, ours));
  if (next == nullptr) verdict.check(nullptr, false, "");
  std::string words = fmt::format("{}: {} is first by worst case", target.subject, rule);
  if (!target.value.text.empty()) {
    verdict.check(own, ours >= target.value.number,
                  fmt::format("{}'s worst is {:.1f}", rule, ours));
    words += fmt::format(", with at least {}", target.value.text);
  }
  return verdict.goal(words, next == nullptr
                                 ? ""
                                 : fmt::format("{:.1f}, next {} with {:.1f}, of {} rules", ours,
                                               next->rule, ours_of(next), rules));
}

Goal median_mrd(const Target& target, const Tables& tables) {
  const Comparison* mrd = find_in(tables, target, kNone, "mrd");
  double median = NAN;
  // The seeds one by one: a mean that an earlier report kept has no median.
  const bool known = mrd != nullptr && mrd->seeds > 0 && mrd->by_seed.size() == mrd->seeds;
  if (known) {
    std::vector<double> values;
    for (const auto& each : mrd->by_seed) values.push_back(each.second);
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  }
  Verdict verdict;
  verdict.check(known ? mrd : nullptr, median <= target.value.number,
                fmt::format("the median is {:.1f} points", median));
  return verdict.goal(fmt::format("{}: {}'s MRD is at most {} points in the median over seeds",
                                  target.subject, target.rules[0], target.value.text),
                      fmt::format("{:.1f} points over {} seeds", median, known ? mrd->seeds : 0));
}

Goal no_attack(const Target& target, const Tables& tables) {
  const Comparison* none = find_in(tables, target, kNone, "accuracy");
  const double ours = ours_of(none);
  Verdict verdict;
  verdict.check(none, std::abs(ours - target.value.number) <= target.within.number,
                fmt::format("it is {:.1f}", ours));
  return verdict.goal(fmt::format("{}: {} without attack is {} +- {}", target.subject,
                                  target.rules[0], target.value.text, target.within.text),
                      fmt::format("{:.1f}", ours));
}

Goal each_attack(const Target& target, const Tables& tables) {
  Verdict verdict;
  for (const auto& table : tables) {
    for (const Comparison& c : table) {
      if (c.dataset != target.dataset || c.rule != target.rules[0] || c.attack == kWorst) continue;
      verdict.check(&c, ours_of(&c) >= target.value.number,
                    fmt::format("{:.1f} under {}", ours_of(&c), c.attack));
    }
  }
  return verdict.goal(
      fmt::format("{}: {} has at least {} under every attack", target.subject, target.rules[0],
                  target.value.text),
      fmt::format("lowest {:.1f}", ours_of(find_in(tables, target, kWorst, "accuracy"))));
}

enum class Use : std::uint8_t { kNever, kMaybe, kAlways };

struct Check {
  std::string_view name;
  Goal (*goal)(const Target&, const Tables&);
  bool several_rules;
  Use value;
  Use within;
};

constexpr Check kChecks[] = {
    {"agrees", &agrees, true, Use::kNever, Use::kAlways},
    {"worst case", &worst_case, false, Use::kAlways, Use::kNever},
    {"first by worst case", &first_by_worst_case, false, Use::kMaybe, Use::kNever},
    {"median MRD", &median_mrd, false, Use::kAlways, Use::kNever},
    {"no attack", &no_attack, false, Use::kAlways, Use::kAlways},
    {"each attack", &each_attack, false, Use::kAlways, Use::kNever},
};

const Check* find_check(std::string_view name) {
  for (const Check& check : kChecks) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

constexpr std::array<std::string_view, 7> kColumns = {"check", "experiments", "subject", "dataset",
                                                      "rules", "value",       "within"};

Result<TargetNumber> read_number(const std::string& text, std::string_view column, Use use) {
  const auto number = number_in<double>(text);
  const bool good = text.empty() ? use != Use::kAlways : use != Use::kNever && number;
  if (!good) {
    return invalid_argument(fmt::format("'{}' is not allowed in {}", excerpt(text), column));
  }
  return TargetNumber{number.value_or(0), text};
}

Result<Target> read_target(const std::vector<std::string>& row) {
  const Check* check = find_check(row[0]);
  if (check == nullptr) {
    std::vector<std::string_view> known;
    for (const Check& each : kChecks) known.push_back(each.name);
    return invalid_argument(
        fmt::format("there is no check '{}'; those are: {}", excerpt(row[0]), join(known)));
  }
  const auto value = read_number(row[5], kColumns[5], check->value);
  if (!value) return value.error();
  const auto within = read_number(row[6], kColumns[6], check->within);
  if (!within) return within.error();
  Target target{row[0], parts_of(row[1], "|"), row[2], row[3], parts_of(row[4], "|"), *value,
                *within};
  if (target.experiments.empty()) return invalid_argument("there is no experiment");
  if (target.rules.empty() || (target.rules.size() > 1 && !check->several_rules)) {
    return invalid_argument(fmt::format("'{}' takes {}, not '{}'", row[0],
                                        check->several_rules ? "rules" : "one rule",
                                        excerpt(row[4])));
  }
  return target;
}

}  // namespace

Result<std::vector<Target>> parse_targets(std::string_view csv, std::string_view origin) {
  const auto rows = parse_csv(csv, origin, kColumns);
  if (!rows) return rows.error();
  std::vector<Target> all;
  for (const auto& row : *rows) {
    auto target = read_target(row);
    if (!target) {
      return invalid_argument(
          fmt::format("{}:{}: {}", origin, all.size() + 2, target.error().message));
    }
    all.push_back(*std::move(target));
  }
  return all;
}

Result<std::vector<Target>> targets() {
  return parse_targets(embedded_text("goals.csv"), "goals.csv");
}

std::string_view name(GoalState state) {
  switch (state) {
    case GoalState::kMet:
      return "met";
    case GoalState::kNotMet:
      return "not met";
    case GoalState::kNotRun:
      break;
  }
  return "not run";
}

std::vector<Goal> goals(std::span<const Target> targets, const Compared& compared) {
  std::vector<Goal> all;
  for (const Target& target : targets) {
    Tables tables;
    for (const std::string& experiment : target.experiments) {
      const auto found = compared.find(experiment);
      if (found != compared.end()) tables.push_back(found->second);
    }
    all.push_back(find_check(target.check)->goal(target, tables));
  }
  return all;
}

}  // namespace boba::reproduction
