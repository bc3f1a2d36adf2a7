#include "boba/rules/guarantee.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "boba/algebra/dense.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// The least singular value of x, which has no more rows than columns.
double weakest_value(const MatrixXd& x) {
  if (const auto squares = algebra::squared_singular_values(x * x.transpose()))
    return std::sqrt((*squares)(0));
  return algebra::singular_values(x)(x.rows() - 1);
}

// The weakest singular value of the set without the f clients that carry most of its weakest
// direction. Some n - 2f clients do no better, so sigma is at most this.
double sigma_bound(const Stage1& stage1, std::size_t f, std::size_t dimension) {
  const auto rank = static_cast<Index>(stage1.subspace.rank());
  const std::size_t n = stage1.nearest.size();
  if (dimension == 0 || static_cast<std::size_t>(rank) < dimension || n < f + dimension + 1) {
    return 0;
  }
  std::vector<double> weakest;
  for (std::size_t i : stage1.nearest) {
    const double x = stage1.projection.x(rank - 1, static_cast<Index>(i));
    weakest.push_back(x * x);
  }
  const std::vector<std::size_t> rest = smallest(weakest, n - f);
  MatrixXd x(rank, static_cast<Index>(rest.size()));
  for (std::size_t k = 0; k < rest.size(); ++k) {
    x.col(static_cast<Index>(k)) =
        stage1.projection.x.col(static_cast<Index>(stage1.nearest[rest[k]]));
  }
  x.colwise() -= x.rowwise().mean().eval();
  return weakest_value(x);
}

// Rounding of the products moves the weakest direction by its share of the strongest one's, and
// squared residuals by its share of the spread.
double condition(const Subspace& subspace, const SubspaceReport& report) {
  if (report.dimension == 0) return 1;
  if (report.rank < report.dimension) return std::numeric_limits<double>::infinity();
  const double first = subspace.spectrum[0];
  const double spread = first / static_cast<double>(subspace.rows);
  return std::max(first / subspace.spectrum[report.rank - 1],
                  spread / (report.residual_level * report.residual_level));
}

}  // namespace

SubspaceReport subspace_report(const Stage1& stage1, const LabelMixes& mixes, std::size_t n,
                               std::size_t f, std::size_t c) {
  const Subspace& subspace = stage1.subspace;
  SubspaceReport report;
  report.dimension = c - 1;
  report.rank = subspace.rank();
  report.fits = stage1.fits;
  report.converged = stage1.converged;
  report.trimmed_loss = stage1.trimmed_loss;
  for (std::size_t k = 0; k < report.rank; ++k) {
    report.singular_values.push_back(std::sqrt(subspace.spectrum[k]));
    report.explained_variance.push_back(subspace.spectrum[k] / subspace.total);
  }
  const double loss = stage1.trimmed_loss.back();
  report.residual_level = std::sqrt(loss / static_cast<double>(n - f));
  report.condition = condition(subspace, report);
  report.sigma_bound = sigma_bound(stage1, f, report.dimension);

  const bool enough = n >= 2 * f + c;
  const bool full_rank = report.rank == report.dimension;
  report.noise_singular_value = std::sqrt(stage1.noise);
  const bool above_noise =
      report.dimension == 0 || report.sigma_bound > report.noise_singular_value;
  report.guarantee_possible = enough && full_rank && above_noise;
  auto& say = report.statements;
  say.push_back(fmt::format(
      "any n - 2f honest clients must span the subspace, which needs n - 2f >= c: {} >= {} {}",
      static_cast<long long>(n) - 2 * static_cast<long long>(f), c, enough ? "holds" : "fails"));
  if (report.dimension == 0) {
    say.push_back("one class: the subspace is a point, and label mixes say nothing");
  } else if (!full_rank) {
    say.push_back(
        fmt::format("the fitted updates span {} of the c - 1 = {} directions; the rest "
                    "is below rounding, so sigma is 0",
                    report.rank, report.dimension));
  } else {
    say.push_back(fmt::format(
        "the (c-1)-th singular value of the fitted set is {:.3g}; without the {} clients that "
        "carry that direction it is {:.3g}, an upper bound of sigma in Assumption 5.3",
        report.singular_values.back(), f, report.sigma_bound));
    say.push_back(fmt::format(
        "directions that are noise have singular values up to {:.3g} (residual level {:.3g} a "
        "client): sigma {}",
        report.noise_singular_value, report.residual_level,
        above_noise ? "may stand out of them"
                    : "does not stand out, so f clients could replace an honest direction"));
    if (report.guarantee_possible) {
      const double order = loss / (report.sigma_bound * report.sigma_bound);
      say.push_back(
          fmt::format("the error bound of Theorem 5.5 is of the order of (trimmed loss / sigma^2) "
                      "squared spreads, "
                      "here at least {:.3g}{}",
                      order, order > 1 ? ": it holds, but is too loose to tell much" : ""));
    }
  }
  if (report.dimension > 0 && mixes.used < mixes.singular_values.size()) {
    say.push_back(
        fmt::format("the projected server gradients differ in {} of {} directions only; "
                    "shares along the others are unknown",
                    mixes.used, mixes.singular_values.size()));
  }
  say.push_back(report.guarantee_possible ? "nothing seen here rules the guarantee out"
                                          : "the guarantee cannot hold for this round");
  return report;
}

}  // namespace boba
