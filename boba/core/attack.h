// Attack: sees the honest updates, writes what the Byzantine clients send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/result.h"
#include "boba/core/verdict.h"
#include "boba/core/views.h"

namespace boba {

struct AttackRound {
  UpdateView honest = {};    // row i is honest client i's update, as a gradient
  UpdateView server = {};    // the server's class gradients, where the attackers know them
  double learning_rate = 0;  // the step eta, for attacks defined on parameters; 0: not known
  std::uint64_t seed = 0;
  std::uint32_t number = 0;  // of the round
  // Each honest client's share of every class, client by client, where the attackers know them.
  std::span<const double> label_mixes = {};
};

// What the attack chose: the factor found, the client copied, ...
struct AttackReport {
  std::vector<NamedValue> measures;
};

// Immutable and thread-safe.
class Attack {
 public:
  virtual ~Attack() = default;

  // Writes one row per Byzantine client. REQUIRES: every row of out has the honest rows' type and
  // length.
  virtual Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                                     std::span<const MutableRow> out) const = 0;

  // Whether it can forge for these numbers of clients, where they matter; quotes them where not.
  virtual Result<void> admits(std::size_t /*honest*/, std::size_t /*byzantine*/) const {
    return {};
  }

  // Whether it needs an honest update; then all must be finite.
  virtual bool looks_at_honest() const { return true; }
  // Whether it sends numbers, or NaN and infinity on purpose.
  virtual bool sends_numbers() const { return true; }
  // Whether it needs AttackRound::server.
  virtual bool looks_at_server() const { return false; }
};

using AttackPtr = std::shared_ptr<const Attack>;

// What may stand behind an attack: it changes what the attackers send, or when.
using AttackStage = std::function<AttackPtr(AttackPtr attack)>;

}  // namespace boba
