// PreparedRows: the round's rows made ready for one rule. Unusable updates are refused, stages
// before the rule have mixed the rest, and the products that the rule needs are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/mix.h"
#include "boba/core/refusal.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/rule.h"

namespace boba {

// Which updates take part.
struct Intake {
  std::vector<std::size_t> kept;  // rows of the round's updates, rising
  std::vector<Refusal> refused;   // hostile rows: they count as Byzantine
  std::vector<Refusal> repeated;  // a client's second update and later; the first still counts

  explicit Intake(const Round& round);

  // positions[k].row is a position in kept. Returns the positions that stay.
  std::vector<std::size_t> refuse(std::span<const Refusal> positions);
};

class PreparedRows final : public RowSpace {
 public:
  // Adds to intake.refused what the passes find. The views must outlive the object.
  static Result<PreparedRows> make(const Kernels& kernels, const Round& round, const Rule& rule,
                                   std::span<const MixStagePtr> mixes, Intake& intake);

  const Shape& shape() const override { return shape_; }
  const Gram& gram() const override { return gram_; }
  const ServerProducts& server_products() const override { return products_; }
  std::span<const double> sq_norms() const override { return products_.sq_norm; }
  bool sharpen() override;
  double learning_rate() const override { return round_->learning_rate; }
  Result<void> hold(std::span<const double> weights) override;
  Result<std::vector<double>> losses(double held,
                                     std::span<const std::vector<Term>> steps) override;
  Result<ServerProducts> gradient_dots(std::span<const Term> terms) override;

  // The updates that take part, in order; and how they were mixed, if they were.
  UpdateView clients() const { return clients_.view(); }
  const Mix* mix() const { return mix_ ? &*mix_ : nullptr; }
  const std::vector<std::string>& left_out() const { return left_out_; }
  // The seed of the stages that mixed them, where the round has none.
  const std::optional<std::uint64_t>& drawn_seed() const { return drawn_seed_; }

  // Weights of rows, as weights of the updates that take part.
  std::vector<double> client_weights(std::span<const double> row_weights) const;

 private:
  PreparedRows(const Kernels& kernels, const Round& round) : kernels_(&kernels), round_(&round) {}

  Result<void> compute_products(const Rule& rule, bool mixing, Intake& intake);
  Result<void> compute_gram(const RowList& server, Intake& intake);
  void compute_gram_about_median(const RowList& server);
  void screen_distances(const Rule& rule, bool mixing, Intake& intake);
  void screen_norms(int f, Intake& intake);
  bool take_known_products(const RowList& server, const Intake& intake);
  std::vector<double> choose_origin(const RowList& rows, std::size_t servers) const;
  Result<void> apply_mixes(std::span<const MixStagePtr> mixes);
  void list_clients(const Intake& intake);
  void products_from_gram(Need need);
  void measure_short_rows(std::span<const double> shares);
  Result<void> check_probing() const;
  void make_points(std::size_t rows);
  void set_point(std::size_t i, double held, std::span<const Term> terms);
  std::vector<double> mixed_products(std::span<const double> client_products) const;

  const Kernels* kernels_;
  const Round* round_;
  Shape shape_;
  RowList clients_;
  std::optional<Mix> mix_;
  std::optional<std::uint64_t> drawn_seed_;
  std::vector<std::string> left_out_;  // per update that takes part: why no mixed row has it
  Gram gram_;
  RowList gram_server_;                 // the server's rows among those of gram_
  std::size_t medoid_ = 0;              // the client nearest to the others, before mixing
  bool server_origin_ = false;          // sharpen() subtracts the server's mean, else the medoid
  std::vector<double> client_squares_;  // before mixing: the numbers that the products are sums of
  ServerProducts products_;
  UpdateMatrix held_;    // h of hold(), or the server's gradient; one row
  UpdateMatrix points_;  // where the oracle is asked
};

// The server's rows must be finite and of usable size: they are our own.
Result<void> check_server_rows(const Kernels& kernels, const UpdateView& rows);

}  // namespace boba
