#include "boba/dist/cost.h"

#include <algorithm>
#include <cmath>

#include "boba/kernels/cpu/chunks.h"

namespace boba {
namespace {

// As in sharded.cc.
constexpr double kStripeBytes = 65536;  // of products that travel at a time
constexpr double kSketchRows = 16;      // whose sketches travel at a time, at least

// What does not depend on the number of machines, in double: 1e5 squared times 1e12 is no size_t.
struct Sizes {
  explicit Sizes(const RoundSize& round)
      : rows(static_cast<double>(round.clients + round.classes)),
        columns(static_cast<double>(round.parameters)),
        element(static_cast<double>(round.element)),
        sketch(static_cast<double>(std::min(round.sketch, round.parameters))),
        triangle(4 * rows * (rows + 1)),
        chunks(static_cast<double>(most_machines(round.parameters))) {}

  double updates() const { return element * rows * columns; }
  // What travels: the products, or the sketches.
  double travelling() const { return sketch > 0 ? 8 * sketch * rows : triangle; }
  // What is added to it: the sums of a machine's chunks; a sketch is its own sum.
  double sums(double machines) const {
    return sketch > 0 ? travelling() : std::ceil(chunks / machines) * triangle;
  }
  // With the total of the products, while the matrix is made of it. Sketches are copied to where
  // products are computed, and every machine multiplies all of them, in chunks.
  double products(double machines) const {
    if (sketch == 0) return sums(machines) + triangle;
    const auto own = static_cast<double>(most_machines(static_cast<std::size_t>(sketch)));
    return 2 * travelling() + (own + 1) * triangle;
  }
  double output(double machines) const { return element * columns / machines; }
  double held(double machines) const {
    return updates() / machines + products(machines) + 8 * rows * rows + output(machines);
  }

  // Sketches pass through the machines one after the other, so many rows at a time.
  double step_rows(double machines) const {
    return std::min(rows, std::max(kSketchRows, std::ceil(rows / (4 * machines))));
  }
  // How much longer a pass takes when each machine waits for the first rows of the one before.
  double waiting(double machines) const {
    const double steps = std::ceil(rows / step_rows(machines));
    return sketch > 0 ? (steps + machines - 1) / steps : 1;
  }
  // What a message to the next machine carries.
  double message(double machines) const {
    return sketch > 0 ? 8 * sketch * step_rows(machines) : std::min(triangle, kStripeBytes);
  }

  double rows;
  double columns;
  double element;
  double sketch;
  double triangle;  // bytes of the upper triangle of the products
  double chunks;
};

std::size_t fewest_machines(const Sizes& sizes, const MachineProfile& machine) {
  const auto most = static_cast<std::size_t>(sizes.chunks);
  // What one holds falls with their number.
  std::size_t low = 1;
  std::size_t high = most;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (sizes.held(static_cast<double>(middle)) <= machine.memory) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

std::size_t most_machines(std::size_t parameters) {
  return cpu::ceil_divide(parameters, cpu::chunk_columns(parameters));
}

RoundCost cost_of(const RoundSize& round, const MachineProfile& machine, std::size_t machines) {
  const Sizes sizes(round);
  RoundCost cost;
  cost.machines = machines == 0 ? fewest_machines(sizes, machine)
                                : std::min(machines, most_machines(round.parameters));
  const auto k = static_cast<double>(cost.machines);
  cost.update_bytes = sizes.updates();
  cost.machine_bytes = sizes.held(k);
  cost.in_memory = cost.machine_bytes <= machine.memory;
  const double pass = sizes.updates() / k / (cost.in_memory ? machine.read : machine.storage);
  // m (m + 1) / 2 products of a multiplication and an addition, in each column.
  const double pairs = sizes.rows * (sizes.rows + 1);
  const double products = pairs * sizes.columns / k / machine.rate;
  const double sketched = pairs * sizes.sketch / machine.rate;
  cost.product_seconds =
      sizes.sketch > 0 ? sizes.waiting(k) * pass + sketched : std::max(pass, products);
  if (cost.machines > 1) {
    const double bytes = sizes.travelling();
    const double hop = machine.latency + sizes.message(k) / machine.network;
    const double adding = sizes.sums(k) / machine.read;
    cost.exchange_seconds = adding + 2 * bytes / machine.network + (k - 1) * hop +
                            std::ceil(std::log2(k)) * machine.latency;
  }
  cost.solve_seconds = machine.solve * sizes.rows * sizes.rows;
  cost.output_seconds = pass;
  return cost;
}

}  // namespace boba
