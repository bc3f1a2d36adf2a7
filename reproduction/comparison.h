// Published against ours, cell by cell: what tables, figures, the CSV file and the goals are made
// from. Numbers are in percent or percentage points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reproduction/published.h"
#include "reproduction/results.h"

namespace boba::reproduction {

// Beside the attacks, the lowest mean over them.
inline constexpr std::string_view kWorst = "worst";
inline constexpr std::string_view kNone = "none";

struct Comparison {
  std::string experiment;
  std::string dataset;
  std::string setting;
  std::string second;
  std::string rule;
  std::string attack;
  std::string metric;               // "accuracy", "mrd"
  std::optional<double> published;  // the worst one computed from its row
  std::optional<double> published_sd;
  std::optional<double> printed_worst;      // where the paper prints another one than its row has
  std::optional<double> ours;               // mean over seeds; none: not run
  std::optional<double> ours_sd;            // none for a single seed
  std::map<std::uint64_t, double> by_seed;  // may be fewer: see Numbers
  std::size_t seeds = 0;
  std::size_t wanted = 0;   // seeds
  bool differs = false;     // by more than allowed_difference
  std::string explanation;  // of that; empty: nobody has found one

  std::optional<double> difference() const;
  // "agrees", "differs", "not run"; "" where nothing was published.
  std::string flag() const;
};

// max(1 point, 2 sd), sd being the paper's.
double allowed_difference(const std::optional<double>& published_sd, double least = 1);

// Sorted like the paper's tables: data set, setting, rule, then columns; quick: nothing published
// is comparable with a small version.
std::vector<Comparison> compare(const PaperResults& results, std::span<const Published> published,
                                std::span<const Explanation> explanations, bool quick);

// The comparison of a cell; null if there is none.
const Comparison* find(std::span<const Comparison> all, std::string_view dataset,
                       std::string_view setting, std::string_view rule, std::string_view attack,
                       std::string_view metric);

// experiment,dataset,rule,attack,setting,metric,published,... with a head line.
std::string to_csv(std::span<const Comparison> all);

std::string setting_text(const Comparison& comparison);

}  // namespace boba::reproduction
