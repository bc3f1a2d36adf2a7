// What docs/theory-hull.md speaks of, measured in d-space: random rounds whose simplex is known,
// the simplex that boba-hull fits to them, and how far the rows are from both.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "boba/core/verdict.h"
#include "tests/support/theory_rounds.h"

namespace boba::test {

// Two to six classes, 18 to 62 honest clients of one to three classes each, random class gradients.
// expected is the mix of the class gradients; each client has its own size of noise around epsilon.
// With kAllDiffer no client holds one class alone, so no two have the same mix.
enum class Mixes { kSomeAlike, kAllDiffer };
TheoryRound random_federation(std::uint64_t seed, double epsilon, double epsilon_s,
                              Mixes mixes = Mixes::kSomeAlike);

// The distances of the rows from the simplex with these corners (rows).
std::vector<double> distances_from(const Eigen::MatrixXd& corners, const Eigen::MatrixXd& rows);

struct HullSpec {
  int f = 0;
  double kappa = 4;
  int max_passes = 15;
  std::string text() const;
};

// One run of boba-hull with server data and without memory; the first `honest` rows are honest.
struct HullRun {
  Eigen::VectorXd out;
  std::vector<bool> accepted, counted;
  std::vector<double> distance;  // D_i, as reported
  double typical = 0;            // tau
  bool filled = false;           // some were accepted to have n - 2f
  Eigen::MatrixXd corners;       // of the fitted simplex, one a row
  std::vector<std::size_t> set;  // that shaped it
  bool settled = false;
  double residual = 0;    // sum of the squared distances of the set from the plane
  Eigen::MatrixXd first;  // the server's corners, projected on the plane

  std::size_t count() const;                    // n: rows that count
  std::size_t accepted_rows() const;            // m
  std::size_t liars(std::size_t honest) const;  // a: accepted, not honest
};
HullRun hull_run(const HullSpec& spec, const Eigen::MatrixXd& rows, const Eigen::MatrixXd& server);

// What the theorem on any accepted set says, and the error.
struct HullError {
  double error = 0;   // from the mean of the honest updates
  double bound = 0;   // (a/m) (max_z |c_z - mean| + reach) + (q/m) max over the lost |g_i - mean|
  double liars = 0;   // a/m
  double lost = 0;    // q/m
  double reach = 0;   // how far an accepted liar may be from the fitted simplex
  double radius = 0;  // max_z |c_z - mean|
};
HullError hull_error(const HullSpec& spec, const HullRun& run, const Eigen::MatrixXd& rows,
                     std::size_t honest);

// What the server can compute: how far the result can be from the mean of the honest accepted rows.
struct Certificate {
  double farthest = 0;   // f/(m - f) times the mean distance of the f farthest accepted rows
  double deviation = 0;  // sqrt(f/(m - f)) times the largest standard deviation of accepted rows
  double least() const { return farthest < deviation ? farthest : deviation; }
};
Certificate certificate(int f, const HullRun& run, const Eigen::MatrixXd& rows);

// The distance of the result from the mean of the accepted honest rows.
double error_among_accepted(const HullRun& run, const Eigen::MatrixXd& rows, std::size_t honest);

}  // namespace boba::test
