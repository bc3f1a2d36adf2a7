#include "tests/support/rules_cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>

#include "boba/rules/registry.h"

namespace boba::test {
namespace {

using Stages = std::vector<RuleCase::Stage>;

bool has_f(const std::vector<OptionInfo>& options) {
  return std::any_of(options.begin(), options.end(),
                     [](const OptionInfo& option) { return option.name == "f"; });
}

// An entry with its defaults, and with each other choice of an option.
template <class Product>
Stages variants(const Entry<Product>& entry) {
  const std::vector<OptionInfo> options = entry.options();
  Stages all = {{{std::string(entry.info.name), {}}, has_f(options)}};
  for (const OptionInfo& option : options) {
    for (const std::string& choice : option.choices) {
      if (choice == option.default_value) continue;
      all.push_back(all.front());
      all.back().params.values.emplace_back(option.name, choice);
    }
  }
  return all;
}

RuleCase make_case(Stages stages) {
  RuleCase made;
  made.stages = std::move(stages);
  // Where this fails, every test of the case fails and names it.
  const Result<Aggregator> rule = make_aggregator(made.spec(1));
  if (!rule) return made;
  made.traits = rule->traits();
  made.ordered = rule->ordered();
  made.needs_oracle = rule->needs_oracle();
  made.has_tolerance = rule->tolerance().has_value();
  return made;
}

// The first and the last rule of each need.
std::vector<const RuleEntry*> one_of_each_kind() {
  std::vector<const RuleEntry*> found;
  for (const Need need :
       {Need::kNothing, Need::kNorms, Need::kServerProducts, Need::kGram, Need::kServerGram}) {
    std::vector<const RuleEntry*> kind;
    for (const RuleEntry& entry : rules()) {
      const Result<Aggregator> rule = make_aggregator(entry.info.name);
      if (rule && rule->need() == need && !rule->ordered()) kind.push_back(&entry);
    }
    if (kind.empty()) continue;
    found.push_back(kind.front());
    if (kind.size() > 1) found.push_back(kind.back());
  }
  return found;
}

std::vector<RuleCase> make_cases() {
  std::vector<RuleCase> cases;
  for (const RuleEntry& entry : rules()) {
    for (RuleCase::Stage& rule : variants(entry)) cases.push_back(make_case({std::move(rule)}));
  }
  for (const RuleEntry* entry : one_of_each_kind()) {
    const RuleCase::Stage rule = variants(*entry).front();
    for (const MixEntry& mix : mix_stages()) {
      for (const auto& stage : variants(mix)) cases.push_back(make_case({stage, rule}));
    }
    for (const BlendEntry& blend : blend_stages()) {
      for (const auto& stage : variants(blend)) cases.push_back(make_case({rule, stage}));
    }
  }
  return cases;
}

}  // namespace

std::string RuleCase::name() const {
  std::string text;
  for (const Stage& stage : stages) text += (text.empty() ? "" : " | ") + print_spec(stage.params);
  return text;
}

std::string RuleCase::spec(int f) const {
  std::vector<Params> all;
  for (const Stage& stage : stages) {
    all.push_back(stage.params);
    if (stage.has_f) all.back().values.emplace_back("f", std::to_string(f));
  }
  return print_spec(all);
}

void PrintTo(const RuleCase& rule, std::ostream* out) { *out << rule.name(); }

const std::vector<RuleCase>& rule_cases() {
  static const std::vector<RuleCase> cases = make_cases();
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
