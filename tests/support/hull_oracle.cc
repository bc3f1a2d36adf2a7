#include "tests/support/hull_oracle.h"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

using Set = std::vector<std::size_t>;

// Digits of products, in units of those of distances.
constexpr double kDigitsOfProducts = 20;

// A plane, and all rows projected on it.
struct Plane {
  RowVectorXd mean;
  MatrixXd basis;  // d by rank
};

MatrixXd pick(const MatrixXd& rows, const Set& set) {
  MatrixXd picked(static_cast<Index>(set.size()), rows.cols());
  for (std::size_t k = 0; k < set.size(); ++k) {
    picked.row(static_cast<Index>(k)) = rows.row(static_cast<Index>(set[k]));
  }
  return picked;
}

Plane plane_of(const MatrixXd& rows, Index dimension, double tolerance) {
  Plane plane;
  plane.mean = rows.colwise().mean();
  const Eigen::BDCSVD<MatrixXd> svd(rows.rowwise() - plane.mean, Eigen::ComputeThinV);
  const VectorXd squares = svd.singularValues().cwiseAbs2();
  Index rank = 0;
  const Index most = std::min(dimension, rows.rows() - 1);
  while (rank < std::min<Index>(most, squares.size()) && squares(rank) > squares(0) * tolerance) {
    ++rank;
  }
  plane.basis = svd.matrixV().leftCols(rank);
  return plane;
}

// The nearest points of the plane.
MatrixXd shadows(const MatrixXd& rows, const Plane& plane) {
  const MatrixXd x = (rows.rowwise() - plane.mean) * plane.basis;
  return (x * plane.basis.transpose()).rowwise() + plane.mean;
}

struct Face {
  std::vector<Index> corners;
  Eigen::ColPivHouseholderQR<MatrixXd> edges;  // from its first corner
};

// All faces of the simplex of these corners (rows) but those whose corners depend on each other.
std::vector<Face> faces_of(const MatrixXd& corners) {
  std::vector<Face> faces;
  for (std::uint32_t mask = 1; mask < std::uint32_t{1} << corners.rows(); ++mask) {
    Face face;
    for (Index z = 0; z < corners.rows(); ++z) {
      if ((mask >> z & 1U) != 0) face.corners.push_back(z);
    }
    MatrixXd edges(corners.cols(), static_cast<Index>(face.corners.size()) - 1);
    for (Index k = 0; k < edges.cols(); ++k) {
      const Index corner = face.corners[static_cast<std::size_t>(k) + 1];
      edges.col(k) = (corners.row(corner) - corners.row(face.corners[0])).transpose();
    }
    if (edges.cols() > 0) {
      face.edges.compute(edges);
      if (face.edges.rank() < edges.cols()) continue;
    }
    faces.push_back(std::move(face));
  }
  return faces;
}

// The mix of corners (rows) nearest to the point: the best of those that lie inside of a face and
// are the nearest of its affine hull.
VectorXd mix_of(const MatrixXd& corners, const std::vector<Face>& faces, const RowVectorXd& point) {
  VectorXd best;
  double least = std::numeric_limits<double>::infinity();
  for (const Face& face : faces) {
    VectorXd p = VectorXd::Zero(corners.rows());
    p(face.corners[0]) = 1;
    if (face.corners.size() > 1) {
      const VectorXd t = face.edges.solve((point - corners.row(face.corners[0])).transpose());
      for (Index k = 0; k < t.size(); ++k) p(face.corners[static_cast<std::size_t>(k) + 1]) = t(k);
      p(face.corners[0]) = 1 - t.sum();
    }
    if (p.minCoeff() < 0) continue;
    const double square = (point - p.transpose() * corners).squaredNorm();
    if (square < least) {
      least = square;
      best = p;
    }
  }
  return best;
}

MatrixXd mixes_of(const MatrixXd& corners, const MatrixXd& points) {
  const std::vector<Face> faces = faces_of(corners);
  MatrixXd mixes(points.rows(), corners.rows());
  for (Index i = 0; i < points.rows(); ++i) {
    mixes.row(i) = mix_of(corners, faces, points.row(i)).transpose();
  }
  return mixes;
}

// The matrix m for which |a m - b|^2 + weight |m - start|^2 is least.
MatrixXd ridge(const MatrixXd& a, const MatrixXd& b, double weight, const MatrixXd& start) {
  MatrixXd system(a.rows() + a.cols(), a.cols());
  system << a, std::sqrt(weight) * MatrixXd::Identity(a.cols(), a.cols());
  MatrixXd right(b.rows() + start.rows(), b.cols());
  right << b, std::sqrt(weight) * start;
  return system.householderQr().solve(right);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void note(double gap, double& margin) { margin = std::min(margin, std::abs(gap)); }

Set nearest(const std::vector<double>& values, Set order, std::size_t count,
            double* margin = nullptr) {
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  if (margin != nullptr && count < order.size()) {
    note((values[order[count]] - values[order[count - 1]]) / values[order[count]], *margin);
  }
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

// Where the search begins: corners as weights of all rows, and the rows that the first plane is
// fitted to.
struct Start {
  MatrixXd weights;  // corners by rows
  Set plane;
};

Start start_at(Index rows, const Set& corners) {
  Start start;
  start.plane = corners;
  start.weights = MatrixXd::Zero(static_cast<Index>(corners.size()), rows);
  for (std::size_t z = 0; z < corners.size(); ++z) {
    start.weights(static_cast<Index>(z), static_cast<Index>(corners[z])) = 1;
  }
  return start;
}

RowVectorXd geometric_median(const MatrixXd& rows) {
  RowVectorXd x = rows.colwise().mean();
  for (int step = 0; step < 20000; ++step) {
    const VectorXd inverse = (rows.rowwise() - x).rowwise().norm().cwiseMax(1e-12).cwiseInverse();
    const RowVectorXd next = inverse.transpose() * rows / inverse.sum();
    const double moved = (next - x).norm();
    x = next;
    if (moved <= 1e-13 * x.norm()) break;
  }
  return x;
}

// How many corners stand out: squared singular values fall by 2 or more behind their directions.
Index corners_that_stand_out(const MatrixXd& close, Index wanted, double tolerance,
                             double& margin) {
  if (wanted == 1) return 1;
  const Eigen::BDCSVD<MatrixXd> svd(close.rowwise() - close.colwise().mean());
  VectorXd values = VectorXd::Zero(close.rows() + 64);
  values.head(svd.singularValues().size()) = svd.singularValues().cwiseAbs2();
  const double noise = values(0) * std::max(tolerance, 1e-12);
  const auto gap = [&](Index directions) {
    return values(0) > 0 ? values(directions - 1) / std::max(values(directions), noise) : 0;
  };
  if (wanted > 1) note(gap(wanted - 1) / 2 - 1, margin);
  if (wanted > 1 && gap(wanted - 1) >= 2) return wanted;
  const Index most = std::min<Index>(wanted > 1 ? wanted - 1 : 31, (close.rows() - 1) / 2);
  Index best = 0;
  for (Index k = 1; k <= most; ++k) {
    if (best == 0 || gap(k) > gap(best)) best = k;
  }
  for (Index k = 1; k <= most; ++k) {
    if (k != best) note(gap(k) / gap(best) - 1, margin);
  }
  if (best > 0) note(gap(best) / 2 - 1, margin);
  return best > 0 && gap(best) >= 2 ? best + 1 : 1;
}

Start start_among(const MatrixXd& updates, const Set& counted, std::size_t keep, Index wanted,
                  double tolerance, double& margin) {
  const VectorXd off = (updates.rowwise() - geometric_median(updates)).rowwise().norm();
  const Set near = nearest({off.data(), off.data() + off.size()}, counted, keep, &margin);
  const MatrixXd close = pick(updates, near);
  const Index c = corners_that_stand_out(close, wanted, tolerance, margin);
  const Plane plane = plane_of(close, c - 1, tolerance);
  MatrixXd rest = shadows(close, plane).rowwise() - plane.mean;
  Set found;
  while (static_cast<Index>(found.size()) < c) {
    const VectorXd squares = rest.rowwise().squaredNorm();
    Index far = 0;
    squares.maxCoeff(&far);
    // Products alone decide here, which have more digits than differences of them.
    for (Index i = 0; i < squares.size(); ++i) {
      if (i != far) note(kDigitsOfProducts * (1 - squares(i) / squares(far)), margin);
    }
    found.push_back(near[static_cast<std::size_t>(far)]);
    const RowVectorXd direction = rest.row(far);
    if (found.size() == 1) {
      rest.rowwise() -= direction;
    } else {
      rest -= rest * direction.transpose() * direction / direction.squaredNorm();
    }
  }
  Start start = start_at(updates.rows(), found);
  start.plane = near;
  return start;
}

Start start_of_mixes(Index rows, const Set& trusted, const MatrixXd& mixes) {
  Start start;
  start.plane = trusted;
  const auto count = static_cast<Index>(trusted.size());
  const MatrixXd weights =
      ridge(mixes, MatrixXd::Identity(count, count), 1e-6 * static_cast<double>(count),
            MatrixXd::Zero(mixes.cols(), count));
  start.weights = MatrixXd::Zero(mixes.cols(), rows);
  for (Index k = 0; k < count; ++k) {
    start.weights.col(static_cast<Index>(trusted[static_cast<std::size_t>(k)])) = weights.col(k);
  }
  return start;
}

// Step 2: the simplex, with what it says of each client.
struct Fit {
  MatrixXd corners;
  MatrixXd mixes;
  std::vector<double> distance;
  double typical = 0;
};

Fit fit(const MatrixXd& updates, const MatrixXd& rows, const Start& start, const Set& counted,
        std::size_t keep, const HullOracleOptions& options, HullAnswer& answer) {
  const Index c = start.weights.rows();
  Fit result;
  Set set;
  while (answer.passes < static_cast<std::size_t>(options.max_passes) && !answer.settled) {
    const bool first = answer.passes == 0;
    const Plane plane =
        plane_of(pick(rows, first ? start.plane : set), c - 1, options.rank_tolerance);
    const MatrixXd points = shadows(updates, plane);
    const MatrixXd off_centre = shadows(rows, plane).rowwise() - plane.mean;
    const MatrixXd begun = (start.weights * off_centre).rowwise() + plane.mean;
    result.corners = begun;
    for (int k = 0; !first && k < 3; ++k) {
      const MatrixXd chosen = pick(points, set);
      result.corners = ridge(mixes_of(result.corners, chosen), chosen, 0.1, begun);
    }
    result.mixes = mixes_of(result.corners, points);
    ++answer.passes;
    const VectorXd norms = (updates - result.mixes * result.corners).rowwise().norm();
    result.distance.assign(norms.data(), norms.data() + norms.size());
    std::vector<double> of_counted;
    for (std::size_t i : counted) of_counted.push_back(result.distance[i]);
    std::sort(of_counted.begin(), of_counted.end());
    result.typical = of_counted[std::min(of_counted.size() / 2, keep - 1)];
    Set next = nearest(result.distance, counted, keep);
    if (!first) {
      const double limit = options.kappa * result.typical;
      Set within;
      for (std::size_t i : counted) {
        if (result.distance[i] <= limit) within.push_back(i);
        note(result.distance[i] / limit - 1, answer.margin);
      }
      if (within.size() > next.size()) next = within;
    }
    // Who is last of them, where these are taken.
    if (next.size() == keep) nearest(result.distance, counted, keep, &answer.margin);
    answer.settled = next == set;
    set = next;
  }
  return result;
}

// Groups of updates that are nearly the same, each with the rows near its first.
std::vector<Set> copies_of(const MatrixXd& updates, double& margin) {
  const Index n = updates.rows();
  std::vector<double> to_nearest;
  for (Index i = 0; i < n; ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < n; ++j) {
      if (j != i) least = std::min(least, (updates.row(i) - updates.row(j)).norm());
    }
    to_nearest.push_back(least);
  }
  const double limit = 0.1 * median(to_nearest);
  std::vector<bool> taken(static_cast<std::size_t>(n), false);
  std::vector<Set> groups;
  for (Index i = 0; i < n; ++i) {
    if (taken[static_cast<std::size_t>(i)]) continue;
    Set group = {static_cast<std::size_t>(i)};
    for (Index j = i + 1; j < n; ++j) {
      if (taken[static_cast<std::size_t>(j)]) continue;
      const double apart = (updates.row(i) - updates.row(j)).norm();
      if (apart > 0) note(apart / limit - 1, margin);
      if (apart > limit) continue;
      group.push_back(static_cast<std::size_t>(j));
      taken[static_cast<std::size_t>(j)] = true;
    }
    if (group.size() > 1) groups.push_back(group);
  }
  return groups;
}

}  // namespace

HullAnswer HullOracle::round(const MatrixXd& all, const MatrixXd& server,
                             const std::vector<std::string>& ids) {
  HullAnswer answer;
  const auto count = static_cast<std::size_t>(all.rows());
  Set kept;
  for (std::size_t i = 0; i < count; ++i) {
    answer.refused.push_back(!all.row(static_cast<Index>(i)).allFinite());
    if (!answer.refused.back()) kept.push_back(i);
  }
  const std::size_t refused = count - kept.size();
  const std::size_t f = options_.f > refused ? options_.f - refused : 0;
  const std::size_t n = kept.size();
  const MatrixXd updates = pick(all, kept);

  const auto recall = [&](std::size_t row) {
    const std::string id = ids.empty() ? "" : ids[row];
    const auto found = clients_.find(id);
    return found == clients_.end() ? Client() : found->second;
  };
  std::vector<Client> known;
  std::size_t order = 0;
  for (std::size_t k = 0; k < n; ++k) {
    known.push_back(recall(kept[k]));
    order = std::max(order, known[k].order);
  }
  Set trusted;
  for (std::size_t k = 0; k < n; ++k) {
    if (known[k].accepted && known[k].order == order && order > 0) trusted.push_back(k);
  }

  // Of a group of copies the least suspicious counts, then the one seen most, then the first.
  Set counted(n);
  std::iota(counted.begin(), counted.end(), std::size_t{0});
  Set spare;
  for (const Set& group : copies_of(updates, answer.margin)) {
    if (group.size() > f + 1) continue;
    std::size_t best = group[0];
    for (std::size_t k : group) {
      const bool calmer = known[k].suspicion < known[best].suspicion;
      const bool older =
          known[k].suspicion == known[best].suspicion && known[k].seen > known[best].seen;
      if (calmer || older) best = k;
    }
    for (std::size_t k : group) {
      if (k != best) spare.push_back(k);
    }
  }
  if (spare.size() > f) spare.clear();
  for (std::size_t k : spare) std::erase(counted, k);
  const std::size_t keep = counted.size() > f ? counted.size() - f : 1;
  std::erase_if(trusted, [&](std::size_t k) { return std::ranges::count(spare, k) > 0; });

  MatrixXd rows = updates;
  Start start;
  if (options_.classes == 0) {
    rows.resize(updates.rows() + server.rows(), updates.cols());
    rows << updates, server;
    Set corners;
    for (Index z = 0; z < server.rows(); ++z) corners.push_back(n + static_cast<std::size_t>(z));
    start = start_at(rows.rows(), corners);
    order = 1;
  } else if (const Index remembered = trusted.empty() ? 0 : known[trusted[0]].mix.size();
             trusted.size() < std::max(static_cast<std::size_t>(remembered), keep / 2) ||
             (options_.classes > 0 ? remembered != options_.classes : remembered < 2)) {
    start = start_among(updates, counted, keep, options_.classes, options_.rank_tolerance,
                        answer.margin);
    ++order;
  } else {
    MatrixXd mixes(static_cast<Index>(trusted.size()), remembered);
    for (std::size_t k = 0; k < trusted.size(); ++k) {
      mixes.row(static_cast<Index>(k)) = known[trusted[k]].mix.transpose();
    }
    start = start_of_mixes(rows.rows(), trusted, mixes);
  }
  const Fit found = fit(updates, rows, start, counted, keep, options_, answer);
  answer.typical = found.typical;
  const Index c = found.corners.rows();
  answer.corners = c;
  for (Client& client : known) {
    if (client.order == order && client.mix.size() == c) continue;
    client.order = order;
    client.mixes = 0;
    client.mix = VectorXd::Zero(c);
  }

  // Constancy.
  std::vector<std::optional<double>> moves(n);
  std::vector<double> judged;
  for (std::size_t k = 0; k < n; ++k) {
    if (!options_.remembers || known[k].mixes < 5) continue;
    const RowVectorXd change = found.mixes.row(static_cast<Index>(k)) - known[k].mix.transpose();
    moves[k] = (change * found.corners).norm();
    judged.push_back(*moves[k] * *moves[k]);
  }
  const double most_moved =
      judged.empty() ? 0
                     : 4 * std::sqrt(std::max(median(judged), 0.1 * found.typical * found.typical));

  std::vector<bool> failed(n);
  for (std::size_t k = 0; k < n; ++k) {
    failed[k] = found.distance[k] > options_.kappa * found.typical;
    note(found.distance[k] / (options_.kappa * found.typical) - 1, answer.margin);
    if (moves[k]) {
      failed[k] = failed[k] || *moves[k] > most_moved;
      note(*moves[k] / most_moved - 1, answer.margin);
    }
    if (!options_.remembers) continue;
    known[k].suspicion = 0.98 * known[k].suspicion + (failed[k] ? 0.02 : 0.0);
    note(known[k].suspicion / 0.3 - 1, answer.margin);
    if (known[k].suspicion > 0.3) failed[k] = true;
    ++known[k].mixes;
    const double step = std::max(1 / static_cast<double>(known[k].mixes), 0.05);
    known[k].mix += step * (found.mixes.row(static_cast<Index>(k)).transpose() - known[k].mix);
  }

  Set accepted;
  std::vector<double> ranks = found.distance;
  for (std::size_t k : counted) {
    if (failed[k]) continue;
    accepted.push_back(k);
    ranks[k] = -1;
  }
  answer.passed = accepted.size();
  const std::size_t least = counted.size() > 2 * f ? counted.size() - 2 * f : 1;
  if (answer.passed < least) accepted = nearest(ranks, counted, least, &answer.margin);
  answer.out = pick(updates, accepted).colwise().mean().transpose();

  answer.accepted.assign(count, false);
  for (std::size_t k : accepted) answer.accepted[kept[k]] = true;
  answer.distance.assign(count, 0);
  answer.suspicion.assign(count, 0);
  answer.change.resize(count);
  answer.mix = MatrixXd::Zero(all.rows(), c);
  for (std::size_t k = 0; k < n; ++k) {
    answer.distance[kept[k]] = found.distance[k];
    answer.suspicion[kept[k]] = known[k].suspicion;
    answer.change[kept[k]] = moves[k];
    answer.mix.row(static_cast<Index>(kept[k])) = found.mixes.row(static_cast<Index>(k));
  }

  if (!options_.remembers || ids.empty()) return answer;
  for (std::size_t k = 0; k < n; ++k) {
    known[k].accepted = answer.accepted[kept[k]];
    ++known[k].seen;
    if (!ids[kept[k]].empty()) clients_[ids[kept[k]]] = known[k];
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!answer.refused[i] || ids[i].empty()) continue;
    Client client = recall(i);
    client.suspicion = 0.98 * client.suspicion + 0.02;
    client.accepted = false;
    ++client.seen;
    clients_[ids[i]] = client;
  }
  return answer;
}

}  // namespace boba::test
