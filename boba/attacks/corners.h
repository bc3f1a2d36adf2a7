// Where attackers take the corners of the honest simplex, the gradients of the single classes,
// from.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "boba/attacks/parts.h"
#include "boba/core/attack.h"

namespace boba {

// Honest updates, and behind them the server's class gradients if they are asked for, with their
// inner products about the honest mean m.
struct AttackSpace {
  RowList rows;
  std::size_t honest = 0;
  Eigen::MatrixXd products;
  Eigen::VectorXd mean_dot;  // <m, a_i - m>
  double mean_sq = 0;        // <m, m>
};

// An error that names the attack if a row is not finite or no honest update is there. instead: what
// the attack can do without the server's gradients; if it is empty, they are left out.
Result<AttackSpace> attack_space(std::string_view attack, const Kernels& kernels,
                                 const AttackRound& round, std::string_view instead);

// The corners as weights of the rows of the space, a column for each: the server's rows, ...
Eigen::MatrixXd corners_at_server(const AttackSpace& space);
// ... the honest updates that successive projection finds (the one farthest from the mean, then
// again and again the one farthest from the affine hull of those found; fewer than count if the
// updates span less), ...
Eigen::MatrixXd corners_among_honest(const AttackSpace& space, std::size_t count);
// ... or the class gradients that explain the honest updates by their true label mixes (least
// squares; the mean stands for a class that nobody holds). REQUIRES: a mix for each honest client.
Eigen::MatrixXd corners_of_labels(const AttackSpace& space, std::span<const double> label_mixes);

// The first place of the largest value, up to rounding.
std::size_t first_largest(const Eigen::VectorXd& values);

}  // namespace boba
