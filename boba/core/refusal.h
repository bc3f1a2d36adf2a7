// Which rows are unusable: those with NaN or infinity, and those whose norm overflows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/views.h"

namespace boba {

// The largest norm that is used: the largest finite float32, or for float64 2^498, beyond which
// sums of squared distances leave the range of double.
double largest_norm(DType dtype);

// scan[i] is what a pass saw of row i. Only rows large enough to be in doubt are read again.
std::vector<Refusal> refusals(const Kernels& kernels, const UpdateView& rows,
                              std::span<const RowScan> scan);

// Fails where a row of the server's own is unusable.
Result<void> check_server_rows(const Kernels& kernels, const UpdateView& rows);

}  // namespace boba
