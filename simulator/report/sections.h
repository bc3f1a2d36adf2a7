// The sections of a page: each a plot or a table with a caption that says how to read it. A
// function gives none where its data are not there. An index makes the ids of a section's elements
// differ from those of other settings.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simulator/report/settings.h"

namespace boba::sim::report {

struct Section {
  std::string name;     // part of its address in the page: "curves"
  std::string heading;  // text
  std::string body;     // HTML
  std::string caption;  // HTML
};

std::optional<Section> curves_section(const Setting& setting, std::size_t index);
std::optional<Section> grid_section(const Setting& setting);
std::optional<Section> worst_section(const Setting& setting);
std::optional<Section> mrd_section(const Setting& setting);
std::optional<Section> recall_section(const Setting& setting);
std::optional<Section> verdicts_section(const Setting& setting);
std::optional<Section> label_mix_section(const Setting& setting);
std::optional<Section> label_error_section(const Setting& setting, std::size_t index);
std::optional<Section> partition_section(const Setting& setting);
std::optional<Section> time_section(const Setting& setting);
std::optional<Section> confusion_section(const Setting& setting, std::size_t index);
std::optional<Section> summary_section(const Setting& setting);

// All runs, of all settings; a column for the setting where there are several.
Section runs_section(std::span<const Setting> settings);

// All of the above that a setting has data for, in reading order.
std::vector<Section> sections_of(const Setting& setting, std::size_t index);

// The rules with their colours and dashes.
std::string legend(const std::vector<Axis>& rules);

// " Of 40 attacks the first 24 are shown." or nothing.
std::string left_out(std::size_t all, std::size_t shown, std::string_view what);

// "3 seeds" of the cell with most runs.
std::size_t most_seeds(const Setting& setting);

}  // namespace boba::sim::report
