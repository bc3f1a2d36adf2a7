// The page as a whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/report/report_data.h"
#include "simulator/report/settings.h"

namespace boba::sim::report {

// HTML of one file that needs no other.
std::string page(std::string_view title, const std::vector<RunData>& runs);

// A page of its own around a body; more_style comes after the style sheet.
std::string document(std::string_view title, const std::string& body,
                     std::string_view more_style = {});

// What came out, in one or two plain sentences; empty where nothing was measured under attack.
std::string conclusion(const Setting& setting);

// style.cc and script.cc.
std::string_view style_sheet();
std::string_view script();

}  // namespace boba::sim::report
