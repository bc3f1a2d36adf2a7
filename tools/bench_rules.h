// Which rules the benchmark runs, and what they run on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/core/round.h"
#include "boba/core/sketch.h"
#include "tools/synthetic.h"

namespace boba::tools {

// The rules of the list, or all of them where it is empty. A stage that has an option f and was
// given none gets this one.
Result<std::vector<Aggregator>> bench_rules(const std::string& list, int f);

// A round that every rule can run on, the probing ones included: their loss is |w|^2 / 2.
class BenchRound {
 public:
  // f of the n clients send -10 times the mean of the others.
  BenchRound(const Kernels& kernels, std::size_t n, std::size_t d, std::size_t classes,
             std::size_t f);

  Round round() const;

 private:
  SyntheticRound rows_;
  UpdateMatrix model_;
  std::unique_ptr<ServerOracle> oracle_;
};

// Milliseconds of a whole round. gram: none is exact; sketches have a fixed seed here.
Result<double> time_of_round(const Kernels& kernels, const Aggregator& rule, const Round& round,
                             const std::optional<SketchOptions>& gram, MutableRow out);

// Milliseconds from the arrival of the last update of an open round to its result.
Result<double> time_of_close(const Kernels& kernels, const Aggregator& rule, const Round& round,
                             const std::optional<SketchOptions>& gram, MutableRow out);

}  // namespace boba::tools
