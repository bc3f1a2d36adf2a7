// What the paper reports, and what is known about why our numbers differ.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"

namespace boba::reproduction {

// One number of a table, in percent.
struct Published {
  std::string dataset;
  std::string setting;  // empty: compared with every setting of the experiment
  std::string rule;
  std::string attack;  // "worst" for the paper's own column of that name
  std::string metric;  // "accuracy", "mrd"
  double mean = 0;
  std::optional<double> sd;
};

// published/NAME.csv.
Result<std::vector<Published>> published_values(std::string_view name);
// Those of several files, one after another.
Result<std::vector<Published>> published_values(std::span<const std::string> names);

// Why some cells differ; an empty text or * stands for any.
struct Explanation {
  std::string experiment;
  std::string dataset;
  std::string setting;
  std::string rule;
  std::string attack;
  std::string metric;
  std::string text;
};

// Those of explanations.csv.
Result<std::vector<Explanation>> explanations();
Result<std::vector<Explanation>> parse_explanations(std::string_view csv, std::string_view origin);

}  // namespace boba::reproduction
