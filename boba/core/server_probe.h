// ServerProbe: the questions of probing rules to the round's oracle, which knows the server's data.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/mixed_clients.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/rule.h"
#include "boba/core/views.h"

namespace boba {

// Squared norms below 2^-960 count as 0, and so do the products of such rows: products of numbers
// that small leave the range of double.
void drop_tiny(ServerProducts& products);

// The methods are those of RowSpace.
class ServerProbe {
 public:
  ServerProbe(const Kernels& kernels, const Round& round) : kernels_(&kernels), round_(&round) {}

  Result<void> hold(const MixedClients& clients, std::span<const double> weights);
  Result<std::vector<double>> losses(const MixedClients& clients, double held,
                                     std::span<const std::vector<RowSpace::Term>> steps);
  Result<ServerProducts> gradient_dots(const MixedClients& clients,
                                       std::span<const RowSpace::Term> terms);

 private:
  Result<void> check() const;
  void make_points(std::size_t rows);
  void set_point(std::size_t i, const MixedClients& clients, double held,
                 std::span<const RowSpace::Term> terms);

  const Kernels* kernels_;
  const Round* round_;
  UpdateMatrix held_;    // h of hold(), or the server's gradient; one row
  UpdateMatrix points_;  // where the oracle is asked
};

}  // namespace boba
