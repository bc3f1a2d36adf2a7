// Rule: what an aggregation rule decides, given the round's rows. Stages mix rows before a rule or
// blend its result after it. All are immutable and thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boba/core/gram.h"
#include "boba/core/memory.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/verdict.h"

namespace boba {

// The products a rule needs; less is cheaper.
enum class Need {
  kNothing,         // no pass before the output: average, coordinate rules, server
  kNorms,           // |g_i|^2: probing rules
  kServerProducts,  // |g_i|^2 and <g_i, s>, s the server's gradient on all its data
  kGram,            // all inner products of the clients
  kServerGram,      // all inner products of clients and server rows
};

// What of the server's data a rule cannot do without.
enum class ServerData {
  kNone,
  kGradient,      // its gradient on all its data: round.server or round.server_whole
  kRows,          // round.server, a gradient per class
  kLoss,          // round.oracle, asked for losses
  kLossGradient,  // round.oracle, asked for gradients
};

// What holds in every round; tests hold each rule to it.
struct Traits {
  bool shifts = false;  // shifting all updates shifts the result
  bool scales = false;  // scaling all updates and server rows scales the result
  bool robust = false;  // f updates far out do not take the result away from the others
};

// The round as a rule meets it: refused rows are gone, stages before the rule have mixed the rest.
struct Shape {
  std::size_t clients = 0;  // n
  std::size_t classes = 0;  // server rows: c, or c times the rule's server_parts()
  std::size_t length = 0;   // d
  std::size_t refused = 0;  // k rows refused as hostile; they count as Byzantine
  bool server = false;      // the server's gradient on all its data is known

  // f less the Byzantine rows that are gone already.
  std::size_t tolerated(int f) const {
    const auto asked = static_cast<std::size_t>(f);
    return asked > refused ? asked - refused : 0;
  }
};

struct ServerProducts {
  std::vector<double> dot;      // <g_i, s>
  std::vector<double> sq_norm;  // |g_i|^2
  double server_sq = 0;         // |s|^2
};

// What a rule may ask about the rows. Answers depend on the rule's Need.
class RowSpace {
 public:
  virtual ~RowSpace() = default;

  virtual const Shape& shape() const = 0;
  // What the caller's memory holds of the rows; null without one. REQUIRES: memory_width() > 0.
  virtual const Past* past() const = 0;
  virtual const Gram& gram() const = 0;                       // REQUIRES: kGram, kServerGram
  virtual const ServerProducts& server_products() const = 0;  // REQUIRES: kServerProducts
  virtual std::span<const double> sq_norms() const = 0;       // REQUIRES: kNorms

  // Forms the products of gram() anew in double; false if they are so already.
  // REQUIRES: kGram, kServerGram.
  virtual bool sharpen() = 0;

  // A row and its factor.
  struct Term {
    std::size_t row = 0;
    double factor = 0;
  };

  // For probing rules; they fail with a sentence when the round has no oracle, model or step.
  // hold: keeps h = sum of weights[i] * row i, a vector of length d.
  // losses: of the server's data at w - eta * (held * h + sum of factor * row), for each of steps;
  // infinity where it is not a number.
  // gradient_dots: v = the server's gradient at w - eta * (sum of factor * row); gives <row i, v>
  // for all rows, and |v|^2. It takes the place of h.
  virtual Result<void> hold(std::span<const double> weights) = 0;
  virtual Result<std::vector<double>> losses(double held,
                                             std::span<const std::vector<Term>> steps) = 0;
  virtual Result<ServerProducts> gradient_dots(std::span<const Term> terms) = 0;
  virtual double learning_rate() const = 0;
};

// What a rule says of one (mixed) row; ClientVerdict has the same fields for a client.
struct RowDecision {
  double weight = 0;
  bool accepted = true;
  std::string reason;
  std::vector<Fact> facts;
  std::vector<NamedValue> measures;
  std::vector<double> label_mix;
  std::vector<double> state = {};  // what the memory keeps of it: memory_width() finite numbers
};

// Positions of the sorted values of each coordinate whose mean is the result: [first, last).
struct OrderRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

struct Decision {
  std::vector<RowDecision> rows;       // one per row of the space
  std::vector<double> server_weights;  // one per server row; empty: none
  std::optional<OrderRange> order;     // coordinate rules; then the rows' weights mean nothing
  double order_factor = 1;             // the order statistic's factor in the output
  double condition = 1;                // how much rounding of the products grew in the decision
  std::vector<NamedValue> measures;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
  std::vector<RuleReport> reports;
};

class Rule {
 public:
  virtual ~Rule() = default;

  virtual Need need() const = 0;

  // By default what need() tells: server rows, or the loss for rules that need norms alone.
  virtual ServerData server_data() const;

  // By default rules shift without server data, scale without an oracle, and are not robust.
  virtual Traits traits() const;

  // Byzantine clients that the rule was told to tolerate. None: any minority.
  virtual std::optional<int> tolerance() const { return std::nullopt; }

  // Server rows of each class: 1, or those of a rule that wants the gradients of several disjoint
  // parts of the server's samples, a class's parts together.
  virtual std::size_t server_parts() const { return 1; }

  // Numbers that the rule remembers of each client; 0: it has no use for a memory. A rule with a
  // memory works without one too, and its decision then notes which tests were left out.
  virtual std::size_t memory_width(const Shape&) const { return 0; }
  // What it remembers of a client whose update was refused. state: before, empty if it is new.
  virtual std::vector<double> after_refusal(std::span<const double> state, const Shape&) const {
    return {state.begin(), state.end()};
  }

  // Refuses only what cannot be computed, quoting the numbers received.
  virtual Result<void> admits(const Shape& shape) const = 0;

  // REQUIRES: admits(rows.shape()).
  virtual Result<Decision> decide(RowSpace& rows) const = 0;
};

// Takes a decision from the inner products. If it is too sensitive to their rounding, takes it
// again with products in double. REQUIRES: kGram, kServerGram.
Result<Decision> decide_from(RowSpace& rows,
                             const std::function<Result<Decision>(const Gram& gram)>& weigh);

// A rule given by the inner products alone; those with server rows too say so in need().
class WeightRule : public Rule {
 public:
  Need need() const override { return Need::kGram; }
  Result<Decision> decide(RowSpace& rows) const final;

 protected:
  virtual Result<Decision> weigh(const Gram& gram, const Shape& shape) const = 0;
};

// A rule given by order statistics of each coordinate.
class CoordinateRule : public Rule {
 public:
  Need need() const final { return Need::kNothing; }
  Result<Decision> decide(RowSpace& rows) const final;

 protected:
  virtual OrderRange order(const Shape& shape) const = 0;
  virtual std::string reason(const Shape& shape) const = 0;  // the same for every client
  virtual std::vector<std::string> warnings(const Shape& shape) const = 0;
};

// Before a rule: replaces client rows by means of them.
class MixStage {
 public:
  virtual ~MixStage() = default;
  virtual Result<void> admits(const Shape& shape) const = 0;
  // REQUIRES: admits(shape).
  virtual Mix mix(const Shape& shape, std::uint64_t seed, std::uint32_t round) const = 0;
  // Why a client may be in no mixed row.
  virtual std::string left_out(const Shape& shape) const = 0;
};

// After a rule: changes what the rule decided.
class BlendStage {
 public:
  virtual ~BlendStage() = default;
  virtual Result<void> admits(const Shape& shape) const = 0;
  virtual bool needs_server_rows() const { return false; }
  virtual void blend(const Shape& shape, Decision& decision) const = 0;
};

using RulePtr = std::shared_ptr<const Rule>;
using MixStagePtr = std::shared_ptr<const MixStage>;
using BlendStagePtr = std::shared_ptr<const BlendStage>;

}  // namespace boba
