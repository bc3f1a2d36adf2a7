// Runs a spec on a round of rows and server gradients, and reads the verdict.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/kernels.h"
#include "boba/core/result.h"
#include "boba/core/verdict.h"
#include "boba/core/views.h"

namespace boba::test {

struct MatrixOutcome {
  Eigen::VectorXd out;
  Verdict verdict;
};

// Fails the test and gives an empty run where the rule fails. Uses the CPU's kernels.
MatrixOutcome run(const std::string& spec, const UpdateMatrix& updates, const UpdateMatrix& server,
                  int threads = 2);

// The same, for runs that may fail.
Result<MatrixOutcome> try_run(const std::string& spec, const UpdateView& updates,
                              const UpdateView& server, int threads = 2);

// A client's measure by name; fails the test where there is none.
double measure(const ClientVerdict& client, std::string_view name);

bool mentions(const std::vector<std::string>& sentences, std::string_view text);

// The k-th singular value (from 0) of the rows about their mean.
double singular_value(const Eigen::MatrixXd& rows, int k);

}  // namespace boba::test
