// Which rows are refused as unusable: those with NaN or infinity, and those whose norm overflows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/views.h"

namespace boba {

// The largest norm of a usable row: the largest finite float32; for float64 2^498, because beyond
// it sums of squared distances leave the range of double.
double largest_norm(DType dtype);

// The refused rows. scan[i] is what a pass saw of row i. Only rows whose norm may overflow are read
// again.
std::vector<Refusal> refusals(const Kernels& kernels, const UpdateView& rows,
                              std::span<const RowScan> scan);

// Fails where a row of the server's own is unusable.
Result<void> check_server_rows(const Kernels& kernels, const UpdateView& rows);

}  // namespace boba
