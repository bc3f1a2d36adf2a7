// boba-hull by its definition in n-space, without a memory.

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "tests/hunt/oracle.h"
#include "tests/hunt/subspace.h"

namespace boba::hunt {
namespace {

constexpr double kKappa = 4;
constexpr int kMostPasses = 15;
constexpr double kRidge = 0.1;
constexpr int kRefinements = 3;
constexpr double kCopy = 0.1;  // of the typical distance from a client to its nearest
constexpr std::size_t kMostCorners = 32;
constexpr double kLeastGap = 2;
constexpr double kLeastNoise = 1e-12;  // of the largest squared singular value
// A pivot below this share of the largest number of the diagonal is 0.
constexpr double kLeastPivot = 1e-40;

using Point = std::vector<Big>;

Big square_of(const Point& a) {
  Big sum = 0;
  for (const Big& x : a) sum += x * x;
  return sum;
}

Point minus(const Point& a, const Point& b) {
  Point difference(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) difference[k] = a[k] - b[k];
  return difference;
}

Big dot(const Point& a, const Point& b) {
  Big sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

std::vector<Point> columns_of(const BigMatrix& x) {
  std::vector<Point> points(x.columns, Point(x.rows));
  for (std::size_t i = 0; i < x.columns; ++i) {
    for (std::size_t a = 0; a < x.rows; ++a) points[i][a] = x(a, i);
  }
  return points;
}

// Of a matrix without negative eigenvalues; none if one is 0.
std::optional<BigMatrix> inverse_of(BigMatrix m) {
  const std::size_t n = m.rows;
  Big largest = 0;
  BigMatrix inverse(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    largest = std::max(largest, m(i, i));
    inverse(i, i) = 1;
  }
  for (std::size_t p = 0; p < n; ++p) {
    if (m(p, p) <= largest * kLeastPivot) return std::nullopt;
    const Big pivot = m(p, p);
    for (std::size_t j = 0; j < n; ++j) {
      m(p, j) /= pivot;
      inverse(p, j) /= pivot;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const Big factor = m(i, p);
      for (std::size_t j = 0; j < n; ++j) {
        m(i, j) -= factor * m(p, j);
        inverse(i, j) -= factor * inverse(p, j);
      }
    }
  }
  return inverse;
}

// The nearest point of a simplex is the nearest of some face's affine hull and lies inside of that
// face. So it is the best of those that do.
class Simplex {
 public:
  explicit Simplex(const std::vector<Point>& corners) : corners_(corners) {
    for (std::size_t mask = 1; mask < std::size_t{1} << corners.size(); ++mask) add_face(mask);
  }

  // The label mix of the nearest point.
  Point mix_of(const Point& x) const {
    Point best;
    Big least = -1;
    for (const Face& face : faces_) {
      Point mix(corners_.size());
      const Point off = minus(x, corners_[face.corners[0]]);
      Big first = 1;
      for (std::size_t a = 0; a < face.edges.size(); ++a) {
        Big& share = mix[face.corners[a + 1]];
        for (std::size_t b = 0; b < face.edges.size(); ++b) {
          share += face.inverse(a, b) * dot(face.edges[b], off);
        }
        first -= share;
      }
      mix[face.corners[0]] = first;
      if (std::any_of(mix.begin(), mix.end(), [](const Big& share) { return share < 0; })) continue;
      const Big square = sq_distance(x, mix);
      if (least >= 0 && !(square < least)) continue;
      least = square;
      best = std::move(mix);
    }
    return best;
  }

  Big sq_distance(const Point& x, const Point& mix) const {
    Point off = x;
    for (std::size_t z = 0; z < mix.size(); ++z) {
      for (std::size_t a = 0; a < off.size(); ++a) off[a] -= mix[z] * corners_[z][a];
    }
    return square_of(off);
  }

 private:
  struct Face {
    std::vector<std::size_t> corners;
    std::vector<Point> edges;  // from its first corner
    BigMatrix inverse;         // of their products
  };

  // Faces whose corners depend on each other have nothing that smaller faces lack.
  void add_face(std::size_t mask) {
    Face face;
    for (std::size_t z = 0; z < corners_.size(); ++z) {
      if ((mask >> z & 1U) != 0) face.corners.push_back(z);
    }
    for (std::size_t a = 1; a < face.corners.size(); ++a) {
      face.edges.push_back(minus(corners_[face.corners[a]], corners_[face.corners[0]]));
    }
    BigMatrix products(face.edges.size(), face.edges.size());
    for (std::size_t a = 0; a < products.rows; ++a) {
      for (std::size_t b = 0; b < products.rows; ++b) {
        products(a, b) = dot(face.edges[a], face.edges[b]);
      }
    }
    std::optional<BigMatrix> inverse = inverse_of(std::move(products));
    if (!inverse) return;
    face.inverse = *std::move(inverse);
    faces_.push_back(std::move(face));
  }

  std::vector<Point> corners_;
  std::vector<Face> faces_;
};

// The corners for which sum |x_i - C p_i|^2 over the set + kRidge sum |C_z - C0_z|^2 is least.
std::vector<Point> refined(const std::vector<Point>& points, const Set& set,
                           const std::vector<Point>& mixes, const std::vector<Point>& first) {
  const std::size_t c = first.size();
  const std::size_t rank = first[0].size();
  BigMatrix squares(c, c);
  std::vector<Point> sums = first;
  for (std::size_t z = 0; z < c; ++z) {
    squares(z, z) = kRidge;
    for (Big& x : sums[z]) x *= kRidge;
  }
  for (std::size_t k = 0; k < set.size(); ++k) {
    for (std::size_t z = 0; z < c; ++z) {
      if (mixes[k][z] == 0) continue;
      for (std::size_t y = 0; y < c; ++y) squares(z, y) += mixes[k][z] * mixes[k][y];
      for (std::size_t a = 0; a < rank; ++a) sums[z][a] += mixes[k][z] * points[set[k]][a];
    }
  }
  const BigMatrix inverse = *inverse_of(std::move(squares));
  std::vector<Point> corners(c, Point(rank));
  for (std::size_t z = 0; z < c; ++z) {
    for (std::size_t y = 0; y < c; ++y) {
      for (std::size_t a = 0; a < rank; ++a) corners[z][a] += inverse(z, y) * sums[y][a];
    }
  }
  return corners;
}

// Of these clients, those with the least values.
Set least_of(const std::vector<Big>& values, const Set& clients, std::size_t count) {
  std::vector<Big> own;
  for (std::size_t i : clients) own.push_back(values[i]);
  Set chosen = smallest_of(own, count);
  for (std::size_t& k : chosen) k = clients[k];
  return chosen;
}

// Who does not count, since a copy of it does.
std::vector<bool> spare_copies(const Products& products, std::size_t f, double tie) {
  const std::size_t n = products.clients;
  std::vector<bool> spare(n, false);
  if (n < 2) return spare;
  const std::vector<Big> sizes = from_centre(products);
  std::vector<Big> nearest(n, Big(-1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const Big square = products.sq_distance(i, j);
      if (nearest[i] < 0 || square < nearest[i]) nearest[i] = std::max(Big(0), square);
    }
  }
  const Big limit = middle_of(nearest) * kCopy * kCopy;
  std::vector<bool> taken(n, false);
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (taken[i]) continue;
    Set others;
    for (std::size_t j = i + 1; j < n; ++j) {
      const Big least = std::max(limit, Big((sizes[i] + sizes[j]) * tie));
      if (!taken[j] && products.sq_distance(i, j) <= least) others.push_back(j);
    }
    for (std::size_t j : others) taken[j] = true;
    // A larger group has honest members.
    if (others.size() > f) continue;
    for (std::size_t j : others) spare[j] = true;
    count += others.size();
  }
  return count <= f ? spare : std::vector<bool>(n, false);
}

// Where the search for the simplex begins.
struct Start {
  Set plane;    // rows that the first plane is fitted to
  Set corners;  // rows, in the order of the corners
};

Start at_server(const Products& products) {
  Set server(products.servers());
  std::iota(server.begin(), server.end(), products.clients);
  return {server, server};
}

// How many corners the clients show. wanted: so many if they stand out; 0: any number.
std::size_t count_corners(const Products& products, const Set& clients, std::size_t wanted) {
  if (wanted == 1) return 1;
  std::vector<Big> values = fit(products, clients, 0).spectrum;
  for (Big& value : values) value = std::max(value, Big(0));
  values.resize(std::max(values.size(), kMostCorners) + 1);
  const Big noise = values[0] * kLeastNoise;
  const auto gap = [&](std::size_t directions) {
    return values[0] > 0 ? Big(values[directions - 1] / std::max(values[directions], noise))
                         : Big(0);
  };
  if (wanted > 1 && gap(wanted - 1) >= kLeastGap) return wanted;
  const std::size_t most = wanted > 1 ? wanted : kMostCorners;
  std::size_t best = 0;
  for (std::size_t k = 1; k <= std::min(most - 1, (clients.size() - 1) / 2); ++k) {
    if (best == 0 || gap(k) > gap(best)) best = k;
  }
  return best > 0 && gap(best) >= kLeastGap ? best + 1 : 1;
}

// Successive projections in the plane of the clients near the geometric median.
Start among_clients(const Products& products, const Set& counted, std::size_t keep,
                    std::size_t wanted) {
  const std::size_t n = products.clients;
  const std::vector<Big> weights = geomed_weights(products);
  std::vector<Big> squares(n);
  Big size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Big along = 0;
    for (std::size_t j = 0; j < n; ++j) along += weights[j] * products.k(i, j);
    squares[i] = products.k(i, i) - 2 * along;
    size += weights[i] * along;
  }
  for (Big& square : squares) square += size;
  Start start;
  start.plane = least_of(squares, counted, keep);
  const std::size_t c = count_corners(products, start.plane, wanted);
  const std::vector<Point> all = columns_of(project(products, fit(products, start.plane, c - 1)).x);
  std::vector<Point> rest;
  for (std::size_t i : start.plane) rest.push_back(all[i]);
  while (start.corners.size() < c) {
    std::size_t farthest = 0;
    for (std::size_t k = 1; k < rest.size(); ++k) {
      if (square_of(rest[k]) > square_of(rest[farthest])) farthest = k;
    }
    const Point direction = rest[farthest];
    const Big length = square_of(direction);
    const bool first = start.corners.empty();
    start.corners.push_back(start.plane[farthest]);
    for (Point& point : rest) {
      if (!first && length == 0) break;
      const Big along = first ? Big(1) : Big(dot(point, direction) / length);
      for (std::size_t a = 0; a < point.size(); ++a) point[a] -= along * direction[a];
    }
  }
  return start;
}

// The distances of all clients from a simplex.
struct Measured {
  std::vector<Big> squares;
  Big typical;  // the median square of those that count, or of the last of the n - f nearest
};

class Search {
 public:
  Search(const Products& products, Start start, Set counted, std::size_t keep)
      : products_(products), start_(std::move(start)), counted_(std::move(counted)), keep_(keep) {}

  Measured run() const {
    Measured now = measure(start_.plane, false);
    Set set = least_of(now.squares, counted_, keep_);
    // From the second pass on the set decides what follows, and sets may come again.
    std::map<Set, Measured> known;
    for (int pass = 2; pass <= kMostPasses; ++pass) {
      auto found = known.find(set);
      if (found == known.end()) found = known.emplace(set, measure(set, true)).first;
      now = found->second;
      Set next = within(now);
      if (next.size() <= keep_) next = least_of(now.squares, counted_, keep_);
      if (next == set) break;
      set = std::move(next);
    }
    return now;
  }

 private:
  Set within(const Measured& measured) const {
    Set set;
    for (std::size_t i : counted_) {
      if (measured.squares[i] <= measured.typical * kKappa * kKappa) set.push_back(i);
    }
    return set;
  }

  Measured measure(const Set& set, bool refine) const {
    const Projected projected = project(products_, fit(products_, set, start_.corners.size() - 1));
    const std::vector<Point> points = columns_of(projected.x);
    std::vector<Point> first;
    for (std::size_t row : start_.corners) first.push_back(points[row]);
    std::vector<Point> corners = first;
    for (int k = 0; refine && k < kRefinements; ++k) {
      const Simplex simplex(corners);
      std::vector<Point> mixes;
      for (std::size_t i : set) mixes.push_back(simplex.mix_of(points[i]));
      corners = refined(points, set, mixes, first);
    }
    const Simplex simplex(corners);
    Big largest = 0;
    for (const Point& corner : corners) largest = std::max(largest, square_of(corner));
    Measured result;
    for (std::size_t i = 0; i < products_.clients; ++i) {
      Big square = simplex.sq_distance(points[i], simplex.mix_of(points[i]));
      if (square <= (square_of(points[i]) + largest) * kLeastSquare) square = 0;
      result.squares.push_back(square + projected.residuals[i]);
    }
    std::vector<Big> of_counted;
    for (std::size_t i : counted_) of_counted.push_back(result.squares[i]);
    std::sort(of_counted.begin(), of_counted.end());
    result.typical = of_counted[std::min(of_counted.size() / 2, keep_ - 1)];
    return result;
  }

  const Products& products_;
  Start start_;
  Set counted_;
  std::size_t keep_;
};

}  // namespace

std::vector<Big> hull_weights(const Products& products, std::size_t f, const RuleUse& use,
                              const OracleOptions& options) {
  const std::size_t n = products.clients;
  const std::vector<bool> spare = spare_copies(products, f, options.copy_tie);
  Set counted;
  for (std::size_t i = 0; i < n; ++i) {
    if (!spare[i]) counted.push_back(i);
  }
  const std::size_t keep = counted.size() > f ? counted.size() - f : 1;
  Start start = use.rule == "boba-hull" ? at_server(products)
                                        : among_clients(products, counted, keep, use.classes);
  const Measured measured = Search(products, std::move(start), counted, keep).run();
  std::vector<Big> ranks = measured.squares;
  Set accepted;
  for (std::size_t i : counted) {
    if (measured.squares[i] > measured.typical * kKappa * kKappa) continue;
    accepted.push_back(i);
    ranks[i] = -1;
  }
  const std::size_t least = counted.size() > 2 * f ? counted.size() - 2 * f : 1;
  if (accepted.size() < least) accepted = least_of(ranks, counted, least);
  std::vector<Big> weights(products.k.rows);
  for (std::size_t i : accepted) weights[i] = Big(1) / static_cast<double>(accepted.size());
  return weights;
}

}  // namespace boba::hunt
