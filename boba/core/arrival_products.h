// ArrivalProducts: inner products of the updates of an open round, formed as updates arrive.
// Internal to OpenRound.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/open_round.h"
#include "boba/core/result.h"
#include "boba/core/views.h"

namespace boba {

// A client's update.
struct Arrival {
  UpdateMatrix own;  // no rows where the caller keeps the numbers
  RowList row;
  std::vector<double> sketch;
  // With the server's rows, with the updates that came before, and with itself.
  std::vector<double> products;
};

// In the order of arrival; null where one was dropped. Shared, so that an update that is dropped
// while others are multiplied with it lives until that is done.
using Arrivals = std::vector<std::shared_ptr<Arrival>>;

// Immutable after prepare(), so threads may multiply at the same time.
class ArrivalProducts {
 public:
  // wanted: whether the rule needs products; without, nothing is multiplied. What is given must
  // outlive the object.
  ArrivalProducts(const Kernels& kernels, const OpenRoundOptions& options, bool wanted)
      : kernels_(kernels), options_(options), wanted_(wanted) {}

  // Checks the server's rows and multiplies them with each other.
  Result<void> prepare();

  // The update's product with itself, or why it is unusable. Makes its sketch.
  Result<double> check(Arrival& update) const;

  // Every product is formed when the later of its two updates comes, by the same sums whichever of
  // them that is. square: the update's product with itself.
  std::vector<double> multiply(const Arrival& update, const Arrivals& before, double square) const;

  // All products of the rows, then the server's rows, as Round::products has them. Row i is an
  // arrival, or none if it was refused. Empty where no products are wanted.
  std::vector<double> matrix(std::span<const std::optional<std::size_t>> rows,
                             const Arrivals& arrivals) const;

 private:
  RowList factor(const Arrival& update) const;

  const Kernels& kernels_;
  const OpenRoundOptions& options_;
  const bool wanted_;
  std::vector<double> server_sketches_;
  RowList server_factors_;  // what updates are multiplied with: the server's rows or their sketches
  std::vector<double> server_products_;  // c by c
};

}  // namespace boba
