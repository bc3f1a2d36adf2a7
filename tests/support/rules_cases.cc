#include "tests/support/rules_cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <ostream>

namespace boba::test {
namespace {

std::function<std::string(int)> with_f(std::string before, std::string after = ")") {
  return [=](int f) { return before + std::to_string(f) + after; };
}

std::function<std::string(int)> fixed(std::string spec) {
  return [=](int) { return spec; };
}

}  // namespace

void PrintTo(const RuleCase& rule, std::ostream* out) { *out << rule.name; }

const std::vector<RuleCase>& rule_cases() {
  static const std::vector<RuleCase> cases = {
      {.name = "average", .spec = fixed("average"), .translates = true, .scales = true},
      {.name = "server", .spec = fixed("server"), .scales = true},
      {.name = "coomed",
       .spec = fixed("coomed"),
       .translates = true,
       .scales = true,
       .robust = true},
      {.name = "coomed lower",
       .spec = fixed("coomed(even=lower)"),
       .translates = true,
       .scales = true,
       .robust = true},
      {.name = "trmean",
       .spec = with_f("trmean(f="),
       .translates = true,
       .scales = true,
       .robust = true},
      {.name = "krum",
       .spec = with_f("krum(f="),
       .translates = true,
       .scales = true,
       .robust = true},
      {.name = "mkrum",
       .spec = with_f("mkrum(f="),
       .translates = true,
       .scales = true,
       .robust = true},
      {.name = "geomed",
       .spec = fixed("geomed"),
       .translates = true,
       .scales = true,
       .robust = true},
      {.name = "selfrej", .spec = with_f("selfrej(f="), .robust = true},
      // Two far out on opposite sides shield each other: no promise to hold it to.
      {.name = "avgrej", .spec = with_f("avgrej(f=")},
      {.name = "zeno", .spec = with_f("zeno(f="), .robust = true},
      {.name = "fltrust", .spec = fixed("fltrust"), .scales = true},
      {.name = "bygars", .spec = fixed("bygars")},
      {.name = "rage",
       .spec = with_f("rage(f="),
       .translates = true,
       .scales = true,
       .robust = true},
      {.name = "rage raw",
       .spec = with_f("rage(f=", ",projection=raw)"),
       .scales = true,
       .robust = true},
      {.name = "bkrum",
       .spec = with_f("b-krum(f="),
       .translates = true,
       .scales = true,
       .by_order = true},
      {.name = "bmkrum",
       .spec = with_f("b-mkrum(f="),
       .translates = true,
       .scales = true,
       .by_order = true},
      {.name = "bucketed coomed",
       .spec = fixed("bucketing(remainder=keep) | coomed"),
       .translates = true,
       .scales = true,
       .by_order = true},
      {.name = "bucketed selfrej", .spec = with_f("bucketing | selfrej(f="), .by_order = true},
      {.name = "bucketed fltrust",
       .spec = fixed("bucketing(s=3) | fltrust"),
       .scales = true,
       .by_order = true},
      {.name = "mixed mkrum",
       .spec = with_f("mkrum(f=", ") | server-mix(lambda=0.25)"),
       .scales = true},
      {.name = "mixed trmean", .spec = with_f("trmean(f=", ") | server-mix"), .scales = true},
  };
  return cases;
}

std::string test_name(const std::string& text) {
  std::string name;
  for (char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

FullRound full_round(std::size_t n, std::size_t d, DType dtype, std::uint64_t seed) {
  FullRound full;
  full.loss = std::make_unique<QuadraticLoss>(QuadraticLoss::random(d, seed + 1000));
  full.input.updates = random_rows(n, d, seed);
  full.input.dtype = dtype;
  full.input.server = random_rows(3, d, seed + 1);
  full.input.counts = {20, 30, 50};
  full.input.model = random_rows(1, d, seed + 2).front();
  full.input.oracle = full.loss.get();
  return full;
}

void sweep(const std::function<void(const Kernels&, std::size_t, std::size_t, DType,
                                    std::uint64_t)>& body) {
  constexpr std::size_t kShapes[][2] = {{5, 1},  {6, 3},   {8, 17}, {9, 60},
                                        {13, 2}, {24, 31}, {33, 5}, {40, 44}};
  for (const auto& kernels : all_kernels()) {
    for (DType dtype : kDTypes) {
      std::uint64_t seed = 100;
      for (const auto& [n, d] : kShapes) {
        SCOPED_TRACE(fmt::format("{}, {}, n={}, d={}", kernels->name(), name(dtype), n, d));
        body(*kernels, n, d, dtype, ++seed);
      }
    }
  }
}

}  // namespace boba::test
