#include "boba/algebra/dense.h"
#include "reproduction/measure/measure.h"
#include "reproduction/measure/probe.h"

namespace boba::reproduction {

Result<Points> measure_pca(const sim::ResolvedExperiment& experiment, const sim::Dataset& dataset,
                           const sim::Place& place) {
  auto probe = make_probe(experiment, dataset, place);
  if (!probe) return probe.error();
  if (Result<void> trained = (*probe)->train(1); !trained) return trained.error();
  const UpdateView rows = (*probe)->honest();
  const auto n = static_cast<Eigen::Index>(rows.rows());
  // Inner products about the mean have the eigenvalues of the scatter of the rows.
  const std::vector<double> mean(rows.rows(), 1.0 / static_cast<double>(n));
  const GramPass pass = (*probe)->kernels().gram(rows, mean, Precision::kDouble);
  const Eigen::Map<const Eigen::MatrixXd> gram(pass.centred.data(), n, n);
  const algebra::SymmetricEigen all = algebra::symmetric_eigenvalues(gram);
  if (!all.found) {
    return Error{ErrorCode::kInternal, "pca: the eigenvalues were not found"};
  }
  Points points;
  for (Eigen::Index k = 0; k < n - 1; ++k) {
    const double value = all.values(n - 1 - k);
    points.push_back({"variance", static_cast<double>(k + 1),
                      std::max(0.0, value) / static_cast<double>(n - 1)});
  }
  return points;
}

}  // namespace boba::reproduction
