// BOBA written plainly in d-space, in double: mean, SVD of the centred matrix, projections.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace boba::test {

enum class OracleSearch { kServer, kAlternate, kExhaustive };

struct BobaOracleOptions {
  std::size_t f = 0;
  OracleSearch search = OracleSearch::kAlternate;
  int max_iter = 20;
  std::optional<double> p_min = -0.5;
  std::size_t slack = 1;
  double rank_tolerance = 1e-12;  // of a squared singular value, relative to the largest
};

struct BobaOracle {
  Eigen::VectorXd out;
  std::vector<bool> accepted;
  std::vector<bool> in_fit;
  Eigen::MatrixXd shares;  // n by c
  std::vector<double> residual;
  std::vector<double> trimmed_loss;
  std::vector<double> singular_values;
  // How far the nearest decision was from turning: gap between the last residual taken and the
  // first left in any iteration, relative to the latter; distance of a least share from p_min.
  double residual_margin = std::numeric_limits<double>::infinity();
  double share_margin = std::numeric_limits<double>::infinity();
};

// Rows are updates and server gradients.
BobaOracle boba_oracle(const Eigen::MatrixXd& updates, const Eigen::MatrixXd& server,
                       const BobaOracleOptions& options);

}  // namespace boba::test
