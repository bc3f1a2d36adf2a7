// Round: all that a rule may look at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

  // Where several points together are cheaper: how many it likes to be asked about at once, and
  // their losses, one per row of points.
  virtual std::size_t at_once() const { return 1; }
  virtual Result<void> losses(const UpdateView& points, std::span<double> out);
};

// A row that is unusable, and why.
struct Refusal {
  std::size_t row = 0;
  std::string reason;
};

struct Round {
  // Row i is client i's update, as a gradient.
  UpdateView updates = {};
  // Who sent row i; empty: nobody asks. An empty name is nobody's.
  std::span<const std::string> ids = {};
  // Row z is the server's gradient of class z; for rules with server_parts(), of a part of its
  // samples.
  UpdateView server = {};
  // Samples behind each server row; empty: equal numbers.
  std::span<const double> server_counts = {};
  // One row: the gradient on all server data, where it is not the weighted mean of the server
  // rows (FedAvg).
  UpdateView server_whole = {};
  // For the probing rules: the parameters w (one row), the step eta, loss and gradient.
  UpdateView model = {};
  double learning_rate = 0;
  ServerOracle* oracle = nullptr;
  // Of random stages. None: one is drawn that no client knows, and the verdict tells it.
  std::optional<std::uint64_t> seed = {};
  std::uint32_t number = 0;  // of the round; random stages draw anew in each

  // What a round that was filled as updates arrived knows already; see open_round.h.
  // Rows turned away on arrival, rising: they are never read and may be null.
  std::span<const Refusal> refused = {};
  // Clients that were asked and did not come.
  std::span<const std::string> absent = {};
  // <a_i, a_j> of the updates and the server rows in their order, n + c by n + c, with sums in
  // double; rows turned away have any numbers. Where they are given, all other rows are known to be
  // usable.
  std::span<const double> products = {};
  std::size_t products_sketch = 0;  // length of the sketches that were multiplied; 0: the rows
};

// Shapes, types, counts and the server's own rows' lengths; not the numbers in the rows.
Result<void> check(const Round& round);

// Rows whose id an earlier row carries, in rising order: only a client's first update counts. Rows
// without an id repeat nobody.
std::vector<std::size_t> repeated_ids(std::span<const std::string> ids);

// The server rows' shares of the server's data: counts over their sum, or equal ones.
std::vector<double> server_shares(const Round& round);

}  // namespace boba
