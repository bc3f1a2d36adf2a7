// PreparedRows: the round's rows made ready for one rule. Unusable updates are refused, stages
// before the rule have mixed the rest, and the products that the rule needs are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boba/core/client_gram.h"
#include "boba/core/copies.h"
#include "boba/core/intake.h"
#include "boba/core/kernels.h"
#include "boba/core/memory.h"
#include "boba/core/mix.h"
#include "boba/core/mixed_clients.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/rule.h"
#include "boba/core/server_probe.h"

namespace boba {

class PreparedRows final : public RowSpace {
 public:
  // Adds to intake.refused what the passes find. What is given must outlive the object.
  static Result<PreparedRows> make(const Kernels& kernels, const Round& round, const Rule& rule,
                                   std::span<const MixStagePtr> mixes, Intake& intake);

  const Shape& shape() const override { return shape_; }
  const Past* past() const override { return past_ ? &*past_ : nullptr; }
  const Gram& gram() const override { return gram_.gram(); }
  const ServerProducts& server_products() const override { return products_; }
  std::span<const double> sq_norms() const override { return products_.sq_norm; }
  bool sharpen() override;
  double learning_rate() const override { return round_->learning_rate; }
  Result<void> hold(std::span<const double> weights) override {
    return probe_.hold(clients_, weights);
  }
  Result<std::vector<double>> losses(double held,
                                     std::span<const std::vector<Term>> steps) override {
    return probe_.losses(clients_, held, steps);
  }
  Result<ServerProducts> gradient_dots(std::span<const Term> terms) override {
    return probe_.gradient_dots(clients_, terms);
  }

  // What the memory holds of the updates that take part. REQUIRES: no stage mixes them.
  void recall(const Memory& memory, const Intake& intake);

  // The updates that take part, in order, and how they were mixed, if they were.
  UpdateView clients() const { return clients_.updates.view(); }
  const Mix* mix() const { return clients_.mix ? &*clients_.mix : nullptr; }
  // Per update that takes part: why no mixed row has it.
  const std::vector<std::string>& left_out() const { return clients_.left_out; }
  // The seed of the stages that mixed them, where the round has none.
  const std::optional<std::uint64_t>& drawn_seed() const { return clients_.drawn_seed; }

  // Copies among the updates that take part. scan: what the output pass saw of them, for rules that
  // need no products.
  Copies copies(std::span<const RowScan> scan) const;

  // Weights of rows, as weights of the updates that take part.
  std::vector<double> client_weights(std::span<const double> row_weights) const {
    return clients_.client_weights(row_weights);
  }

 private:
  PreparedRows(const Kernels& kernels, const Round& round)
      : kernels_(&kernels), round_(&round), probe_(kernels, round) {}

  Result<void> compute_products(const Rule& rule, bool mixing, Intake& intake);
  Result<void> compute_dots(const Rule& rule, const RowList& server, Intake& intake);
  void mix_products(Need need);
  void measure_short_rows(std::span<const double> client_squares, std::span<const double> shares);

  const Kernels* kernels_;
  const Round* round_;
  Shape shape_;
  MixedClients clients_;
  ClientGram gram_;
  ServerProducts products_;
  ServerProbe probe_;
  std::optional<Copies> near_copies_;  // where all products were formed
  std::vector<RowScan> scan_;          // what the pass for norms saw of the updates
  std::optional<Past> past_;
};

}  // namespace boba
