// Every rule of the registry with a spec for each f, for tests that hold for many rules.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "boba/core/spec.h"
#include "tests/support/rules_loss.h"
#include "tests/support/rules_round.h"

namespace boba::test {

struct RuleCase {
  struct Stage {
    Params params;
    bool has_f = false;
  };
  std::vector<Stage> stages;
  Traits traits;
  bool ordered = false;  // the result depends on the order of the clients
  bool needs_oracle = false;
  bool has_tolerance = false;  // the rule knows an f

  std::string name() const;
  std::string spec(int f) const;
};

// How GoogleTest names a case.
void PrintTo(const RuleCase& rule, std::ostream* out);

// Each rule as it is and with each choice of its options, then rules of every kind behind and
// before each stage. All of it comes from the registry.
const std::vector<RuleCase>& rule_cases();

// For GoogleTest's names, which take letters and digits only.
std::string test_name(const std::string& text);

// A round with all that any rule looks at, drawn by the seed.
struct FullRound {
  RoundInput input;
  std::unique_ptr<QuadraticLoss> loss;
};
FullRound full_round(std::size_t n, std::size_t d, DType dtype, std::uint64_t seed);

// Calls body(kernels, n, d, dtype, seed) for many shapes, both types and every backend.
void sweep(const std::function<void(const Kernels&, std::size_t, std::size_t, DType,
                                    std::uint64_t)>& body);

}  // namespace boba::test
