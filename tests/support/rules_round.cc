#include "tests/support/rules_round.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "boba/core/random.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/kernels/reference/reference.h"
#include "boba/rules/registry.h"

namespace boba::test {
namespace {

// Rows of one type, each in a buffer of its own with a margin, so that none are adjacent.
template <Element T>
class Buffers {
 public:
  Buffers(const Rows& rows, std::size_t length) : list_(kDType<T>, length) {
    for (const Row& row : rows) {
      auto& buffer = memory_.emplace_back(std::make_unique<std::vector<T>>(row.size() + 5));
      for (std::size_t k = 0; k < row.size(); ++k) (*buffer)[k + 3] = static_cast<T>(row[k]);
      list_.add(MutableRow(std::span<T>(buffer->data() + 3, row.size())));
    }
  }
  UpdateView view() const { return list_.view(); }
  bool holds(const Rows& rows) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < rows[i].size(); ++k) {
        const T now = (*memory_[i])[k + 3];
        const T then = static_cast<T>(rows[i][k]);
        if (now != then && !(std::isnan(now) && std::isnan(then))) return false;
      }
    }
    return true;
  }

 private:
  std::vector<std::unique_ptr<std::vector<T>>> memory_;
  RowList list_;
};

std::size_t length_of(const Rows& rows) { return rows.empty() ? 0 : rows.front().size(); }
Rows as_rows(const Row& row) { return row.empty() ? Rows{} : Rows{row}; }

template <Element T>
Result<Outcome> run_as(const Kernels& kernels, const Aggregator& aggregator,
                       const RoundInput& input) {
  const Buffers<T> updates(input.updates, length_of(input.updates));
  const Buffers<T> server(input.server, length_of(input.server));
  const Buffers<T> whole(as_rows(input.whole), input.whole.size());
  const Buffers<T> model(as_rows(input.model), input.model.size());
  Round round;
  round.updates = updates.view();
  round.ids = input.ids;
  round.server = server.view();
  round.server_counts = input.counts;
  round.server_whole = whole.view();
  round.model = model.view();
  round.learning_rate = input.eta;
  round.oracle = input.oracle;
  round.seed = input.seed;
  round.number = input.number;
  std::vector<T> out(length_of(input.updates), T{99});
  Result<Verdict> verdict = aggregator.aggregate(kernels, round, std::span<T>(out));
  EXPECT_TRUE(updates.holds(input.updates)) << "an update was written to";
  if (!verdict) return verdict.error();
  return Outcome{*std::move(verdict), Row(out.begin(), out.end())};
}

}  // namespace

Rows random_rows(std::size_t n, std::size_t d, std::uint64_t seed) {
  Rows rows(n, Row(d));
  const StreamKey key{.seed = seed, .purpose = Purpose::kSynthetic};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < d; ++k) rows[i][k] = normal_at(key, i * d + k);
  }
  return rows;
}

Rows scaled(Rows rows, double factor) {
  for (Row& row : rows) {
    for (double& x : row) x *= factor;
  }
  return rows;
}

Rows shifted(Rows rows, const Row& by) {
  for (Row& row : rows) row = plus(row, by);
  return rows;
}

Rows permuted(const Rows& rows, const std::vector<std::size_t>& order) {
  Rows result;
  for (std::size_t i : order) result.push_back(rows[i]);
  return result;
}

Row plus(Row a, const Row& b, double factor) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += factor * b[k];
  return a;
}

RoundInput RoundInput::with_updates(Rows rows) const {
  RoundInput copy = *this;
  copy.updates = std::move(rows);
  return copy;
}

Result<Outcome> try_run(const Kernels& kernels, std::string_view spec, const RoundInput& input) {
  const Result<Aggregator> aggregator = make_aggregator(spec);
  if (!aggregator) return aggregator.error();
  return visit(input.dtype, [&](auto zero) -> Result<Outcome> {
    return run_as<decltype(zero)>(kernels, *aggregator, input);
  });
}

Outcome run(const Kernels& kernels, std::string_view spec, const RoundInput& input) {
  Result<Outcome> outcome = try_run(kernels, spec, input);
  if (outcome) return *std::move(outcome);
  ADD_FAILURE() << spec << ": " << outcome.error().message;
  Outcome none;
  none.verdict.clients.resize(input.updates.size());
  none.verdict.weights.resize(input.updates.size());
  none.out.resize(length_of(input.updates));
  return none;
}

std::string error_of(const Kernels& kernels, std::string_view spec, const RoundInput& input) {
  const Result<Outcome> outcome = try_run(kernels, spec, input);
  return outcome ? "" : outcome.error().message;
}

const std::vector<std::unique_ptr<const Kernels>>& all_kernels() {
  static const auto kernels = [] {
    std::vector<std::unique_ptr<const Kernels>> list;
    list.push_back(make_reference_kernels());
    list.push_back(make_cpu_kernels({.threads = 1}));
    list.push_back(make_cpu_kernels({.threads = 2, .grain = 1}));
    return list;
  }();
  return kernels;
}

const Kernels& reference() { return *all_kernels().front(); }

Row rounded(const Row& row, DType dtype) {
  Row result = row;
  if (dtype == DType::kFloat32) {
    for (double& x : result) x = static_cast<double>(static_cast<float>(x));
  }
  return result;
}

Rows rounded(const Rows& rows, DType dtype) {
  Rows result;
  for (const Row& row : rows) result.push_back(rounded(row, dtype));
  return result;
}

double measure(const std::vector<NamedValue>& measures, std::string_view name) {
  for (const NamedValue& m : measures) {
    if (m.name == name) return m.value;
  }
  ADD_FAILURE() << "no measure " << name;
  return std::nan("");
}

double norm(const Row& a) { return std::sqrt(dot(a, a)); }

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

double relative_error(const Row& a, const Row& b, double least) {
  if (a.size() != b.size()) return std::nan("");
  return norm(plus(a, b, -1)) / std::max(norm(b), least);
}

double tolerance(DType dtype) { return dtype == DType::kFloat32 ? 2e-5 : 1e-10; }

}  // namespace boba::test
