// Label-skewed updates for tests: each honest client holds two classes, its update is the mix of
// their gradients plus noise, and the server knows each class's gradient up to noise of its own.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "boba/core/round.h"
#include "boba/core/views.h"

namespace boba::test {

struct SkewOptions {
  int honest = 30;
  int byzantine = 0;
  int classes = 4;
  int length = 200;
  double common = 1;      // size of the component that all classes share
  double separation = 1;  // distance of a class from it
  double close_pair = 0;  // above 0: class 1 stands this far from class 0
  double noise = 0.05;    // of a client's update, as a norm
  double server_noise = 0.05;
  double scale = 1;  // of everything
  std::uint64_t seed = 1;
};

enum class Forgery { kNone, kIpm, kGauss, kLie, kMimic, kHuge };

// Rows in double: honest ones first, then the forged. Row z of server is class z.
struct SkewedRound {
  Eigen::MatrixXd updates;
  Eigen::MatrixXd server;
  Eigen::MatrixXd true_mix;  // honest by classes
};

SkewedRound make_skewed(const SkewOptions& options, Forgery forgery = Forgery::kNone);

// The rows of a matrix in buffers of their own.
UpdateMatrix to_updates(const Eigen::MatrixXd& rows, DType dtype);

// The values that the rows hold after rounding to their type.
Eigen::MatrixXd to_matrix(const UpdateView& rows);

}  // namespace boba::test
