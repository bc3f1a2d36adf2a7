// Round: all that a rule may look at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "boba/core/result.h"
#include "boba/core/views.h"

namespace boba {

// Loss and gradient of the server's data, for the probing rules. A simulator, a test or a user
// implements it. Points are single rows of the updates' type and length. A loss that is not a
// number counts as infinitely bad.
class ServerOracle {
 public:
  virtual ~ServerOracle() = default;
  virtual Result<double> loss(const UpdateView& point) = 0;
  virtual Result<void> gradient(const UpdateView& point, MutableRow out) = 0;
};

struct Round {
  UpdateView updates;                     // row i is client i's update, as a gradient
  std::span<const std::string> ids;       // who sent row i; empty: nobody asks
  UpdateView server;                      // row z is the server's gradient of class z
  std::span<const double> server_counts;  // samples behind each server row; empty: equal numbers
  UpdateView server_whole;                // one row: the gradient on all server data, where it is
                                          // not the weighted mean of the server rows (FedAvg)
  UpdateView model;                       // one row: the parameters w, for the probing rules
  double learning_rate = 0;               // the step eta, for the probing rules
  ServerOracle* oracle = nullptr;         // for the probing rules
  std::uint64_t seed = 0;
  std::uint32_t number = 0;  // of the round; random stages draw anew in each
};

// Shapes, types, counts and the server's own rows' lengths; not the numbers in the rows.
Result<void> check(const Round& round);

// Rows whose id an earlier row carries, in rising order: only a client's first update counts.
std::vector<std::size_t> repeated_ids(std::span<const std::string> ids);

// The server rows' shares of the server's data: counts over their sum, or equal ones.
std::vector<double> server_shares(const Round& round);

}  // namespace boba
