#include "reproduction/published.h"

#include <fmt/format.h>

#include <array>

#include "boba/text/names.h"
#include "boba/text/printable.h"
#include "reproduction/csv_text.h"
#include "reproduction/embedded.h"

namespace boba::reproduction {
namespace {

constexpr std::string_view kFolder = "published/";
constexpr std::string_view kEnding = ".csv";
constexpr std::array<std::string_view, 7> kColumns = {"dataset", "setting", "rule", "attack",
                                                      "metric",  "mean",    "sd"};
constexpr std::array<std::string_view, 7> kExplanationColumns = {
    "experiment", "dataset", "setting", "rule", "attack", "metric", "text"};

Result<double> read_number(const std::string& text, std::string_view origin) {
  if (const auto value = number_in<double>(text)) return *value;
  return invalid_argument(fmt::format("{}: '{}' is not a number", origin, excerpt(text)));
}

}  // namespace

Result<std::vector<Published>> published_values(std::string_view name) {
  std::vector<Published> values;
  const std::string path = fmt::format("{}{}{}", kFolder, name, kEnding);
  const std::string_view text = embedded_text(path);
  if (text.empty()) {
    std::vector<std::string_view> known;
    for (const EmbeddedFile& file : embedded_files()) {
      if (!file.path.starts_with(kFolder) || !file.path.ends_with(kEnding)) continue;
      known.push_back(
          file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - kEnding.size()));
    }
    return invalid_argument(fmt::format("there are no published values '{}'; those are: {}",
                                        excerpt(name), join(known)));
  }
  const auto rows = parse_csv(text, path, kColumns);
  if (!rows) return rows.error();
  for (const auto& row : *rows) {
    Published value{row[0], row[1], row[2], row[3], row[4], 0, {}};
    const auto mean = read_number(row[5], path);
    if (!mean) return mean.error();
    value.mean = *mean;
    if (!row[6].empty()) {
      const auto sd = read_number(row[6], path);
      if (!sd) return sd.error();
      value.sd = *sd;
    }
    values.push_back(std::move(value));
  }
  return values;
}

Result<std::vector<Published>> published_values(std::span<const std::string> names) {
  std::vector<Published> all;
  for (const std::string& name : names) {
    auto values = published_values(name);
    if (!values) return values.error();
    all.insert(all.end(), values->begin(), values->end());
  }
  return all;
}

Result<std::vector<Explanation>> parse_explanations(std::string_view csv, std::string_view origin) {
  const auto rows = parse_csv(csv, origin, kExplanationColumns);
  if (!rows) return rows.error();
  std::vector<Explanation> all;
  for (const auto& row : *rows) {
    all.push_back({row[0], row[1], row[2], row[3], row[4], row[5], row[6]});
  }
  return all;
}

Result<std::vector<Explanation>> explanations() {
  return parse_explanations(embedded_text("explanations.csv"), "explanations.csv");
}

}  // namespace boba::reproduction
