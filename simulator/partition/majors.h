// Which classes are a client's main ones, for pairs and step.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "boba/core/result.h"

namespace boba::sim {

// Row i, column z: how often class z stands among the majors of client i. Client i has number
// k = i mod c^2, first class a = k / c and second b = k mod c: over c^2 clients, every ordered pair
// once. Further majors are (a + b) mod c, (a + 2b) mod c, ...: every class stands equally often in
// every place. With one major, it is i mod c.
//
// An error unless clients is a multiple of c^2 (of c with one major).
Result<std::vector<std::vector<int>>> deal_majors(std::string_view name, std::size_t clients,
                                                  std::size_t classes, std::size_t majors);

}  // namespace boba::sim
