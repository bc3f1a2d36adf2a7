// A server oracle for tests: the loss sum of a_k (w_k - c_k)^2 / 2, with faults on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "boba/core/round.h"
#include "tests/support/rules_round.h"

namespace boba::test {

class QuadraticLoss final : public ServerOracle {
 public:
  QuadraticLoss(Row curvature, Row centre);
  // Curvatures and centre drawn for the length.
  static QuadraticLoss random(std::size_t length, std::uint64_t seed);

  Result<double> loss(const UpdateView& point) override;
  Result<void> gradient(const UpdateView& point, MutableRow out) override;

  double value(const Row& point) const;
  Row slope(const Row& point) const;

  int losses = 0;               // asked so far
  int gradients = 0;            // asked so far
  std::optional<int> fails_at;  // the question of this number, from 1, is answered by an error
  double nan_above = std::numeric_limits<double>::infinity();  // larger losses are NaN
  bool flat = false;                                           // the gradient is zero everywhere

 private:
  Result<void> count(int& counter);

  Row curvature_;
  Row centre_;
};

}  // namespace boba::test
