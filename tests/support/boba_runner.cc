#include "tests/support/boba_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "boba/algebra/dense.h"
#include "boba/kernels/cpu/cpu.h"
#include "boba/rules/registry.h"
#include "tests/support/label_skew.h"

namespace boba::test {

Result<MatrixOutcome> try_run(const std::string& spec, const UpdateView& updates,
                              const UpdateView& server, int threads) {
  Result<Aggregator> aggregator = make_aggregator(spec);
  if (!aggregator) return aggregator.error();
  const auto kernels = make_cpu_kernels({.threads = threads});
  UpdateMatrix out(updates.dtype(), 1, updates.length());
  const Round round{.updates = updates, .server = server, .seed = 0};
  Result<Verdict> verdict = aggregator->aggregate(*kernels, round, out.row(0));
  if (!verdict) return verdict.error();
  return MatrixOutcome{to_matrix(out.view()).row(0), *std::move(verdict)};
}

MatrixOutcome run(const std::string& spec, const UpdateMatrix& updates, const UpdateMatrix& server,
                  int threads) {
  Result<MatrixOutcome> result = try_run(spec, updates.view(), server.view(), threads);
  if (result) return *std::move(result);
  ADD_FAILURE() << spec << ": " << result.error().message;
  return {Eigen::VectorXd::Zero(static_cast<Eigen::Index>(updates.length())), {}};
}

double measure(const ClientVerdict& client, std::string_view name) {
  for (const NamedValue& m : client.measures) {
    if (m.name == name) return m.value;
  }
  ADD_FAILURE() << "no measure " << name;
  return 0;
}

bool mentions(const std::vector<std::string>& sentences, std::string_view text) {
  return std::any_of(sentences.begin(), sentences.end(), [&](const std::string& sentence) {
    return sentence.find(text) != std::string::npos;
  });
}

double singular_value(const Eigen::MatrixXd& rows, int k) {
  const Eigen::RowVectorXd mean = rows.colwise().mean();
  return algebra::singular_values(rows.rowwise() - mean)(k);
}

}  // namespace boba::test
