// Round: everything that a rule may look at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

  // For oracles where one call for several points is cheaper: how many points to ask about at once,
  // and their losses, one per row of points.
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
  // Who sent row i. Optional. An empty id is never treated as a duplicate.
  std::span<const std::string> ids = {};
  // Row z is the server's gradient of class z. Rules with server_parts() take several rows per
  // class, each of a part of its samples.
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
  // For random stages. Without one, a seed that no client knows is drawn, and the verdict tells it.
  std::optional<std::uint64_t> seed = {};
  std::uint32_t number = 0;  // of the round; random stages draw other numbers in each

  // The rest is known of a round that was filled as updates arrived; see open_round.h.
  // Rows refused on arrival, rising. They are never read and may be null.
  std::span<const Refusal> refused = {};
  // Clients that were asked and sent no update.
  std::span<const std::string> absent = {};
  // <a_i, a_j> of the updates, then the server rows: n + c by n + c, with sums in double. Products
  // of refused rows are not read. Where products are given, all other rows are known to be usable.
  std::span<const double> products = {};
  std::size_t products_sketch = 0;  // length of the sketches that were multiplied; 0: the rows

  // Who sent row i; empty where nobody said.
  std::string_view id(std::size_t i) const { return ids.empty() ? std::string_view() : ids[i]; }
};

// Checks shapes, types and counts, but not the numbers in the rows.
Result<void> check(const Round& round);

// Rows whose id an earlier row has too, rising: only a client's first update counts. Rows without
// an id are never among them.
std::vector<std::size_t> repeated_ids(std::span<const std::string> ids);

// The server rows' shares of the server's data: counts over their sum, or equal ones.
std::vector<double> server_shares(const Round& round);

}  // namespace boba
