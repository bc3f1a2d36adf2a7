// Rounds for tests of rules: rows in buffers of their own, of either type, and how to run a spec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/core/kernels.h"
#include "boba/core/round.h"
#include "boba/core/views.h"

namespace boba::test {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat64};

// Independent normal numbers; the same for the same seed everywhere.
Rows random_rows(std::size_t n, std::size_t d, std::uint64_t seed);

Rows scaled(Rows rows, double factor);
Rows shifted(Rows rows, const Row& by);
// Row i of the result is row order[i].
Rows permuted(const Rows& rows, const std::vector<std::size_t>& order);
Row plus(Row a, const Row& b, double factor = 1);

// What a round looks at, in double; the rows are rounded to dtype when it is run.
struct RoundInput {
  Rows updates;
  DType dtype = DType::kFloat64;
  Rows server = {};
  std::vector<double> counts = {};
  Row whole = {};
  Row model = {};
  double eta = 0.1;
  ServerOracle* oracle = nullptr;
  std::vector<std::string> ids = {};
  std::uint64_t seed = 7;
  std::uint32_t number = 3;

  RoundInput with_updates(Rows rows) const;
};

struct Outcome {
  Verdict verdict;
  Row out;
};

Result<Outcome> try_run(const Kernels& kernels, std::string_view spec, const RoundInput& input);

// The same where success is expected; a failed one is a failed test.
Outcome run(const Kernels& kernels, std::string_view spec, const RoundInput& input);

// The error's text; "" where there was none.
std::string error_of(const Kernels& kernels, std::string_view spec, const RoundInput& input);

// Every backend of the processor: reference, and the fast one with 1 and 2 threads.
const std::vector<std::unique_ptr<const Kernels>>& all_kernels();
const Kernels& reference();

// The values after rounding to dtype.
Row rounded(const Row& row, DType dtype);
Rows rounded(const Rows& rows, DType dtype);

double measure(const std::vector<NamedValue>& measures, std::string_view name);

// |a - b| over the larger of |b| and least.
double relative_error(const Row& a, const Row& b, double least = 1e-30);
double norm(const Row& a);
double dot(const Row& a, const Row& b);

// What results may differ by from the definition, relative to the size of the input.
double tolerance(DType dtype);

}  // namespace boba::test
