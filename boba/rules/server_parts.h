// How well the server knows the corners of the simplex, by disjoint parts of its own samples.
#pragma once

#include <cstddef>

#include "boba/core/gram.h"
#include "boba/rules/subspace.h"

namespace boba {

// A part is what an honest client with one class would send. Each is written as a mix of the
// corners that the other parts give, within the subspace, and has a least share; this is the lower
// quartile of these. (The lowest has long tails: where few samples make two corners nearly equal,
// it is many times what honest clients have.) By the noise of the corners alone the shares of a
// client deviate less, by sqrt(m - 1) / m with m parts; that ratio is taken out but for the 2 of
// two halves, which is the margin. gram: the products before the parts were joined; subspace: of
// those after. 0 where the corners cannot be told apart. REQUIRES: parts > 1.
double low_share_of_parts(const Gram& gram, const Subspace& subspace, std::size_t parts);

}  // namespace boba
