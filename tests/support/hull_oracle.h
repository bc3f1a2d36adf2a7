// boba-hull written plainly in d-space, in double: SVD of centred rows, the nearest point of a
// simplex as the best of all its faces, least squares by QR. It remembers clients by itself.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace boba::test {

struct HullOracleOptions {
  std::size_t f = 0;
  double kappa = 4;
  Eigen::Index classes = 0;  // 0: the server's rows are the corners; -1: as many as stand out
  int max_passes = 15;
  bool remembers = false;
  double rank_tolerance = 1e-14;  // of a squared singular value, relative to the largest
};

struct HullAnswer {
  Eigen::VectorXd out;
  std::vector<bool> refused;
  std::vector<bool> accepted;
  std::vector<double> distance;  // from the simplex; 0 for refused rows, as all that follows
  double typical = 0;
  Eigen::Index corners = 0;
  Eigen::MatrixXd mix;                        // clients by classes
  std::vector<std::optional<double>> change;  // of the mix, as a distance
  std::vector<double> suspicion;
  std::size_t passes = 0;
  bool settled = false;
  std::size_t passed = 0;  // before the nearest were added
  // How far the nearest decision was from turning, relatively: who is fitted, who passes.
  double margin = std::numeric_limits<double>::infinity();
};

class HullOracle {
 public:
  explicit HullOracle(const HullOracleOptions& options) : options_(options) {}

  // Rows are updates and server gradients. A row with a number that is not finite is refused. ids
  // may be empty, as may each of them.
  HullAnswer round(const Eigen::MatrixXd& updates, const Eigen::MatrixXd& server,
                   const std::vector<std::string>& ids = {});

 private:
  struct Client {
    std::size_t seen = 0;   // rounds
    std::size_t mixes = 0;  // rounds that told its mix, in the order of corners
    std::size_t order = 0;
    double suspicion = 0;
    bool accepted = false;
    Eigen::VectorXd mix;
  };

  HullOracleOptions options_;
  std::map<std::string, Client> clients_;
};

}  // namespace boba::test
