// A verdict as text, and data that is described once.
#include "boba/core/verdict.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "boba/core/verdict_text.h"

namespace boba {
namespace {

struct Weather {
  std::size_t days = 3;
  bool dry = true;
  std::vector<double> rain = {4, 0.5};
  std::vector<double> shares = {0.25, 0.75};
  std::vector<std::string> reasons = {"a high", "and\x1b[2J no wind"};

  static constexpr auto fields() {
    return std::tuple{
        described("days", &Weather::days, "days seen"),
        described("dry", &Weather::dry, "whether it stays dry"),
        described("rain", &Weather::rain, "millimetres").shown_as("rain", Style::kSteps),
        described("shares", &Weather::shares, "of the sky").shown_as("sky", Style::kPercent),
        described("reasons", &Weather::reasons, "why").shown_as("reasons"),
    };
  }
};

TEST(Facts, GiveTheObjectBack) {
  const Weather weather{.days = 5, .dry = false, .rain = {1}, .shares = {}, .reasons = {"none"}};
  const Weather back = from_facts<Weather>(facts_of(weather));
  EXPECT_EQ(back.days, 5U);
  EXPECT_FALSE(back.dry);
  EXPECT_EQ(back.rain, weather.rain);
  EXPECT_EQ(back.shares, weather.shares);
  EXPECT_EQ(back.reasons, weather.reasons);
}

TEST(Facts, HaveTypesByName) {
  std::vector<std::string> types;
  for (const FieldInfo& field : field_infos<Weather>()) types.emplace_back(field.type);
  EXPECT_EQ(types, (std::vector<std::string>{"count", "flag", "numbers", "numbers", "texts"}));
}

TEST(VerdictText, ShowsWhatARuleReports) {
  Verdict verdict;
  verdict.reports.push_back({"weather", "Three days", facts_of(Weather{}), "Dry:"});
  EXPECT_TRUE(verdict_text(verdict).find("\nThree days\n"
                                         "  rain ............... 4 -> 0.5\n"
                                         "  sky ................ 25.0% 75.0%\n"
                                         "\nDry:\n"
                                         "  - a high\n"
                                         "  - and\\x1b[2J no wind\n") != std::string::npos)
      << verdict_text(verdict);
  EXPECT_EQ(verdict.report("weather")->get<std::size_t>("days"), 3U);
  EXPECT_EQ(verdict.report("climate"), nullptr);
}

ClientVerdict named(std::size_t index, const std::string& id, const std::string& reason) {
  ClientVerdict client;
  client.index = index;
  client.id = id;
  client.reason = reason;
  return client;
}

TEST(VerdictText, KeepsColumnsApartWhateverAClientIsCalled) {
  static constexpr FieldInfo kLate = {
      .name = "late", .type = "flag", .meaning = "", .label = "too late"};
  Verdict verdict;
  verdict.rule = "krum(f=1)";
  verdict.updates = 3;
  verdict.clients = {named(0, "a\n     1  b   yes", "fine"), named(1, "caf\u00e9", "far"),
                     named(2, "", "NaN\x1b[2K")};
  verdict.clients[0].weight = 1;
  verdict.clients[1].weight = 0;
  verdict.clients[1].measures = {{"score", 12.5}};
  verdict.clients[1].facts = {{&kLate, true}};
  verdict.clients[1].accepted = verdict.clients[2].accepted = false;
  verdict.clients[2].refused = true;
  EXPECT_EQ(verdict_text(verdict, " today"),
            "krum(f=1) accepted 1 of 3 updates today\n\n"
            "client  id                  accepted  weight  too late  score  why\n"
            "     0  a\\n     1  b   yes  yes            1  -             -  fine\n"
            "     1  caf\u00e9                no             0  yes        12.5  far\n"
            "     2  -                   refused        -  -             -  NaN\\x1b[2K\n");
}

}  // namespace
}  // namespace boba
