// Rounds whose expectations are known, for the paper's statements: E g_i is a mix of class
// gradients, g_i = E g_i + noise with E |noise|^2 = epsilon^2, and the server's rows alike.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/boba_runner.h"

namespace boba::test {

struct TheoryOptions {
  int honest = 11;
  int classes = 3;
  int length = 20;
  double epsilon = 0.1;    // inner variation of a client, as a root mean square
  double epsilon_s = 0.1;  // and of the server
  double size = 1;         // of the class gradients: delta grows with it
  std::uint64_t seed = 1;  // of the noise; class gradients and mixes are always the same
};

struct TheoryRound {
  Eigen::MatrixXd corners;   // E gamma_z, c by d
  Eigen::MatrixXd mix;       // p_iz, h by c
  Eigen::MatrixXd expected;  // E g_i, h by d
  Eigen::MatrixXd honest;    // g_i
  Eigen::MatrixXd server;    // gamma_z

  Eigen::VectorXd mean() const { return expected.colwise().mean(); }
  double client_noise() const { return (honest - expected).squaredNorm(); }
  // Sum over clients of p_iz |gamma_z - E gamma_z|^2.
  double server_noise() const { return (mix * (server - corners).rowwise().squaredNorm()).sum(); }
};

TheoryRound make_theory(const TheoryOptions& options);

// What the Byzantine clients send: the attack's spec, "none", or "cluster" for copies of one point
// off the subspace. number is the round's, for attacks that take several.
Eigen::MatrixXd attacked(const TheoryRound& round, const std::string& attack, int byzantine,
                         std::uint32_t number = 0);

// The rule's verdict and output, in double.
MatrixOutcome outcome_of(const std::string& rule, const Eigen::MatrixXd& updates,
                         const Eigen::MatrixXd& server);

// Least (c-1)-th singular value, centred, of any `count` of the rows: the sigma of Assumption 5.3.
double sigma_of_subsets(const Eigen::MatrixXd& rows, int count, int direction);

// The slope of log y in log x by least squares.
double slope(const std::vector<double>& x, const std::vector<double>& y);

// One more point of a line in a plot of docs/theory.md, where BOBA_THEORY_POINTS names a file for
// them (scripts/theory-plots.sh); otherwise nothing.
void plotted(const std::string& figure, const std::string& line, double x, double y);

}  // namespace boba::test
