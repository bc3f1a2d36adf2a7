// The simplex near which n - f of the updates lie, its corners refined from the clients.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "boba/core/gram.h"
#include "boba/rules/subspace.h"

namespace boba {

// Where the search for the simplex begins.
struct HullStart {
  std::vector<std::size_t> plane;  // rows of the Gram matrix; the first plane is theirs
  // The corners, as weights of the rows of the Gram matrix; a column per corner.
  Eigen::MatrixXd corners;
  // How much the directions that the corners span stand out, for corners found among clients: the
  // last squared singular value of the clients that counts, over the next.
  double gap = std::numeric_limits<double>::infinity();
};

struct HullFit {
  Subspace plane;
  Eigen::MatrixXd corners;          // in the plane's coordinates, a column per corner
  Eigen::MatrixXd shares;           // corners by clients; a column is a client's label mix
  std::vector<double> sq_distance;  // of each client from the simplex, in the whole space
  std::vector<std::size_t> set;     // the clients that shaped the plane and the corners, rising
  // The median distance of the clients that may shape it, but at most that of the last of the
  // `near` nearest: where honest copies do not count, liars may be half of those that do.
  double typical = 0;
  double lost = 0;  // up to this, in the median, squared distances count as 0
  std::size_t passes = 0;
  bool settled = false;  // the set stayed the same
};

// The server's rows, or rows of clients, as corners. REQUIRES: rows is not empty.
HullStart corners_at(const Gram& gram, std::span<const std::size_t> rows);

// Label mixes stand out of noise if the gap is at least this.
inline constexpr double kLeastGap = 2;

// Corners among the `near` of these clients nearest to the geometric median of all: the one
// farthest from their mean, then always the one farthest from the affine hull of those found
// (successive projections). As many as wanted, if they stand out; else, or if wanted is 0, the
// number up to `most` that stands out most; one if none does. REQUIRES: wanted <= most.
HullStart corners_among_clients(const Gram& gram, std::span<const std::size_t> clients,
                                std::size_t near, std::size_t wanted, std::size_t most);

// Corners that explain the clients by label mixes known before: least squares over `known`, the
// positions of the clients, with a column of mixes for each. The first plane is that of `plane`.
HullStart corners_of_mixes(const Gram& gram, std::span<const std::size_t> known,
                           const Eigen::MatrixXd& mixes, std::vector<std::size_t> plane);

// Repeats: fit a plane to the set, find corners in it that explain the set, measure every client's
// distance from their simplex, take of `clients` the `near` nearest and all within reach times the
// typical distance. Ends when the set stays the same, or after max_passes. clients rise.
HullFit fit_hull(const Gram& gram, const HullStart& start, std::span<const std::size_t> clients,
                 std::size_t near, double reach, int max_passes);

}  // namespace boba
