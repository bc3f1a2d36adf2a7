#include "simulator/partition/majors.h"

#include <fmt/format.h>

#include <string>

namespace boba::sim {

Result<std::vector<std::vector<int>>> deal_majors(std::string_view name, std::size_t clients,
                                                  std::size_t classes, std::size_t majors) {
  const std::size_t c = classes;
  const std::size_t unit = majors == 1 ? c : c * c;
  if (clients % unit != 0) {
    const std::size_t below = clients / unit * unit;
    return invalid_argument(fmt::format(
        "{} needs a multiple of {} clients, one for each {}of {} classes; got {}; use {}{}", name,
        unit, majors == 1 ? "" : "ordered pair ", c, clients,
        below > 0 ? fmt::format("{} or ", below) : "", below + unit));
  }
  std::vector<std::vector<int>> times(clients, std::vector<int>(c, 0));
  for (std::size_t i = 0; i < clients; ++i) {
    const std::size_t k = i % unit;
    if (majors == 1) {
      ++times[i][k];
      continue;
    }
    const std::size_t a = k / c;
    const std::size_t b = k % c;
    ++times[i][a];
    ++times[i][b];
    for (std::size_t j = 2; j < majors; ++j) ++times[i][(a + (j - 1) * b) % c];
  }
  return times;
}

}  // namespace boba::sim
