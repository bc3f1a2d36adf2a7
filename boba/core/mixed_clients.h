// MixedClients: the updates that take part, and how the stages before the rule mix them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/mix.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/rule.h"
#include "boba/core/views.h"

namespace boba {

struct MixedClients {
  RowList updates;
  std::optional<Mix> mix;                   // none: the rule sees the updates themselves
  std::optional<std::uint64_t> drawn_seed;  // of the stages, where the round has no seed
  std::vector<std::string> left_out;        // per update: why it is in no mixed row, or empty

  // Rows that the rule sees.
  std::size_t rows() const { return mix ? mix->rows() : updates.rows(); }

  // Applies the stages in order. shape: of the round before them, and then after them.
  Result<void> apply(std::span<const MixStagePtr> stages, const Kernels& kernels,
                     const Round& round, Shape& shape);

  // Weights of the rows that the rule sees, as weights of the updates.
  std::vector<double> client_weights(std::span<const double> row_weights) const;
  // A vector's products with the updates, as its products with the rows that the rule sees.
  std::vector<double> row_products(std::span<const double> client_products) const;
};

}  // namespace boba
