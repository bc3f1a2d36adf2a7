// Every rule with a spec for each f, for tests that hold for many rules.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/rules_loss.h"
#include "tests/support/rules_round.h"

namespace boba::test {

struct RuleCase {
  std::string name;
  std::function<std::string(int f)> spec;
  bool translates = false;  // shifting all updates shifts the result
  bool scales = false;      // scaling all updates (and server gradients) scales the result
  bool by_order = false;    // the result depends on the order of the clients
  bool robust = false;      // f updates far out do not take the result away from the others
};

// How GoogleTest names a case.
void PrintTo(const RuleCase& rule, std::ostream* out);

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
