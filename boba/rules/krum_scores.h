// The scores that Krum and Multi-Krum share.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "boba/core/gram.h"
#include "boba/core/result.h"
#include "boba/core/rule.h"

namespace boba {

// How many nearest others score a client: the option, or n - f - 2 where it is 0. Refuses what
// cannot be computed.
Result<std::size_t> krum_neighbours(std::string_view rule, const Shape& shape, int f,
                                    int neighbours);

// Client i's score: the sum of its squared distances to that many nearest others.
std::vector<double> krum_scores(const Gram& gram, std::size_t neighbours);

// The warning where n < 2f + 3 or f = 0; empty where all is well.
std::vector<std::string> krum_warnings(const Shape& shape, int f);

}  // namespace boba
