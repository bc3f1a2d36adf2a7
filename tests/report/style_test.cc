// The colours of the style sheet, computed: contrast as WCAG 2 defines it.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "simulator/report/report.h"
#include "simulator/report/svg.h"

namespace boba::sim::report {
namespace {

using Colours = std::map<std::string, double>;  // relative luminance of each variable

double luminance(const std::string& hex) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(hex.substr(2 * i, 2), nullptr, 16) / 255.0;
    sum += weights[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(double a, double b) { return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05); }

// The variables of the first :root block after the given text.
Colours colours_after(std::string_view start) {
  const std::string css(style_sheet());
  const std::size_t from = css.find(":root", css.find(start));
  const std::size_t to = css.find('}', from);
  Colours colours;
  for (std::size_t at = from; (at = css.find("--", at)) < to;) {
    const std::size_t colon = css.find(':', at);
    const std::size_t hash = css.find('#', at);
    if (hash == colon + 2) colours[css.substr(at, colon - at)] = luminance(css.substr(hash + 1, 6));
    at = colon;
  }
  return colours;
}

void expect_readable(const Colours& colours) {
  const double page = colours.at("--page");
  EXPECT_GE(contrast(colours.at("--ink"), page), 7);
  EXPECT_GE(contrast(colours.at("--muted"), page), 4.5);
  EXPECT_GE(contrast(colours.at("--accent"), page), 4.5);
  EXPECT_GE(contrast(colours.at("--tip-ink"), colours.at("--tip")), 7);
  for (int hue = 0; hue < kHues; ++hue) {
    EXPECT_GE(contrast(colours.at("--c" + std::to_string(hue)), page), 3) << hue;
  }
  double last = colours.at("--h0");
  for (int shade = 0; shade < kShades; ++shade) {
    const double fill = colours.at("--h" + std::to_string(shade));
    EXPECT_GE(contrast(colours.at("--k" + std::to_string(shade)), fill), 4.5) << shade;
    if (shade > 0) {
      EXPECT_NE(fill, last) << shade;
    }
    last = fill;
  }
}

TEST(Style, IsReadableOnLightPages) { expect_readable(colours_after("")); }

TEST(Style, IsReadableOnDarkPages) {
  const Colours dark = colours_after("prefers-color-scheme: dark");
  expect_readable(dark);
  EXPECT_LT(dark.at("--page"), 0.05);
}

TEST(Style, ShadesGoOneWay) {
  for (const char* start : {"", "prefers-color-scheme: dark"}) {
    const Colours colours = colours_after(start);
    const bool rising = colours.at("--h8") > colours.at("--h0");
    for (int shade = 1; shade < kShades; ++shade) {
      const double step =
          colours.at("--h" + std::to_string(shade)) - colours.at("--h" + std::to_string(shade - 1));
      EXPECT_EQ(step > 0, rising) << start << shade;
    }
  }
}

TEST(Style, HasAClassForEveryColour) {
  const std::string css(style_sheet());
  for (int i = 0; i < kHues; ++i) EXPECT_NE(css.find(".c" + std::to_string(i) + " {"), css.npos);
  for (int i = 0; i < kDashes; ++i) EXPECT_NE(css.find(".d" + std::to_string(i) + " {"), css.npos);
  for (int i = 0; i < kFillings; ++i)
    EXPECT_NE(css.find(".v" + std::to_string(i) + " {"), css.npos);
  for (int i = 0; i < kShades; ++i) {
    EXPECT_NE(css.find(".h" + std::to_string(i) + " {"), css.npos);
    EXPECT_NE(css.find(".k" + std::to_string(i) + " {"), css.npos);
  }
}

// Bars show no dashes: colour and filling alone tell rules apart.
TEST(Style, BarsOfManyRulesDiffer) {
  std::set<std::string> bars;
  for (std::size_t hue = 0; hue < 36; ++hue) {
    std::string name = series_class(hue);
    const std::size_t dash = name.find(" d");
    bars.insert(name.erase(dash, name.find(" v") - dash));
  }
  EXPECT_EQ(bars.size(), 36U);
  std::set<std::string> hues;
  const std::string css(style_sheet());
  for (int i = 0; i < kHues; ++i) {
    hues.insert(css.substr(css.find("#", css.find("--c" + std::to_string(i) + ":")), 7));
  }
  EXPECT_EQ(hues.size(), static_cast<std::size_t>(kHues));
}

// Dark colours are for screens: paper is white.
TEST(Style, PrintsLight) {
  const std::string css(style_sheet());
  EXPECT_NE(css.find("@media screen and (prefers-color-scheme: dark)"), css.npos);
  EXPECT_NE(css.find("@media print"), css.npos);
}

TEST(Assets, NeedNothingFromOutside) {
  for (std::string_view text : {style_sheet(), script()}) {
    EXPECT_EQ(text.find("url("), text.npos);
    EXPECT_EQ(text.find("@import"), text.npos);
    EXPECT_EQ(text.find("fetch("), text.npos);
    EXPECT_EQ(text.find("innerHTML"), text.npos) << "text from a database never becomes markup";
    EXPECT_EQ(text.find("</"), text.npos) << "it would end the element it is in";
  }
}

}  // namespace
}  // namespace boba::sim::report
