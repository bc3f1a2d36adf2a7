// What aggregating a round would take on many machines: bytes, seconds, machines. docs/scaling.md
// explains the formulas and what they leave out.
//
// n clients and c server rows are m = n + c rows of length d with s bytes a number; K machines.
#pragma once

#include <cstddef>

namespace boba {

// One machine, in bytes, seconds and operations.
struct MachineProfile {
  double memory = 400e9;   // that updates may take
  double read = 150e9;     // bytes a second from memory
  double storage = 5e9;    // the same for what does not fit into memory
  double rate = 2e12;      // operations a second of the product kernel
  double network = 12e9;   // bytes a second to another machine
  double latency = 20e-6;  // seconds until a message begins to arrive
  double solve = 1.2e-7;   // seconds of the rule per m^2, on one thread
};

struct RoundSize {
  std::size_t clients = 0;
  std::size_t classes = 10;
  std::size_t parameters = 0;
  std::size_t element = 4;  // bytes of a number
  std::size_t sketch = 0;   // length of sketches; 0: exact products
};

struct RoundCost {
  std::size_t machines = 1;
  bool in_memory = true;        // otherwise every pass reads from storage
  double update_bytes = 0;      // s m d, of all machines
  double machine_bytes = 0;     // what one machine holds: columns, sums, products, its output
  double product_seconds = 0;   // one pass, and the multiplications; sketches: with the waiting
  double exchange_seconds = 0;  // the running total from machine to machine, and back to all
  double solve_seconds = 0;     // the rule, the same on every machine
  double output_seconds = 0;    // one pass
  double total() const {
    return product_seconds + exchange_seconds + solve_seconds + output_seconds;
  }
};

// The most machines that can hold a part of rows of this length.
std::size_t most_machines(std::size_t parameters);

// With that many machines; 0: as few as hold everything in memory, or as many as can take part
// where none suffice. REQUIRES: clients and parameters are not 0.
RoundCost cost_of(const RoundSize& round, const MachineProfile& machine, std::size_t machines = 0);

}  // namespace boba
