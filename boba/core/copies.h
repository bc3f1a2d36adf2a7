// Clients that sent the same update, or nearly the same. Colluding copies are the commonest attack
// and the cheapest to see.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "boba/core/gram.h"
#include "boba/core/kernels.h"
#include "boba/core/views.h"

namespace boba {

// Per client: the first client of those that sent the same update as it; none if it is alone, and
// for the first itself.
using Copies = std::vector<std::optional<std::size_t>>;

// Nearly the same, by the inner products of the clients: closer to each other than this share of
// the typical distance from a client to its nearest, or than what rounding may leave of equal rows.
// doubtful: set if the latter was the greater one for some copy, which may then be none.
inline constexpr double kNearCopy = 0.1;
Copies near_copies(const Gram& gram, bool* doubtful = nullptr);

// The same in every coordinate. scan is what a pass saw of the rows: only rows of equal largest
// values are compared. It looks for copies of the first row of those that look alike.
Copies equal_copies(const Kernels& kernels, const UpdateView& rows, std::span<const RowScan> scan);

// The groups of copies, each rising, in the order of their first members.
std::vector<std::vector<std::size_t>> copy_groups(const Copies& copies);

}  // namespace boba
