// The constrained fit against the best of all faces, each solved by elimination in long double.
#include "boba/algebra/simplex_fit.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "boba/core/random.h"

namespace boba::algebra {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Real = long double;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

MatrixXd random_matrix(Index rows, Index columns, std::uint64_t seed) {
  const StreamKey key{.seed = seed, .purpose = Purpose::kSynthetic};
  MatrixXd m(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) {
      m(i, j) = normal_at(key, static_cast<std::uint64_t>(j * rows + i));
    }
  }
  return m;
}

// A point of the simplex, some of its shares 0.
VectorXd random_shares(Index c, std::uint64_t seed) {
  const StreamKey key{.seed = seed, .round = 1, .purpose = Purpose::kSynthetic};
  VectorXd p(c);
  for (Index z = 0; z < c; ++z) {
    const double u = uniform_at(key, static_cast<std::uint64_t>(z));
    p(z) = u < 0.4 ? 0.0 : u;
  }
  if (p.sum() == 0) p(0) = 1;
  return p / p.sum();
}

struct Nearest {
  VectorXd shares;
  Real sq_distance = std::numeric_limits<Real>::infinity();
};

// Solves m x = b by elimination with row pivots; false if a pivot is lost in rounding.
bool eliminate(std::vector<std::vector<Real>> m, std::vector<Real>& b, Real least) {
  const std::size_t n = b.size();
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t pivot = p;
    for (std::size_t i = p + 1; i < n; ++i) {
      if (std::abs(m[i][p]) > std::abs(m[pivot][p])) pivot = i;
    }
    if (!(std::abs(m[pivot][p]) > least)) return false;
    std::swap(m[p], m[pivot]);
    std::swap(b[p], b[pivot]);
    for (std::size_t i = p + 1; i < n; ++i) {
      const Real factor = m[i][p] / m[p][p];
      for (std::size_t j = p; j < n; ++j) m[i][j] -= factor * m[p][j];
      b[i] -= factor * b[p];
    }
  }
  for (std::size_t p = n; p-- > 0;) {
    for (std::size_t j = p + 1; j < n; ++j) b[p] -= m[p][j] * b[j];
    b[p] /= m[p][p];
  }
  return true;
}

// The nearest point lies inside of some face whose corners do not depend on each other, and is the
// nearest point of that face's affine hull. So it is the best of all that lie inside.
Nearest best_of_faces(const MatrixXd& corners, const VectorXd& x) {
  const auto c = static_cast<std::size_t>(corners.cols());
  const auto d = static_cast<std::size_t>(corners.rows());
  const auto at = [&](std::size_t k, std::size_t z) {
    return static_cast<Real>(corners(static_cast<Index>(k), static_cast<Index>(z)));
  };
  const auto of_x = [&](std::size_t k) { return static_cast<Real>(x(static_cast<Index>(k))); };
  Nearest best;
  for (std::size_t mask = 1; mask < std::size_t{1} << c; ++mask) {
    std::vector<std::size_t> face;
    for (std::size_t z = 0; z < c; ++z) {
      if ((mask >> z & 1) != 0) face.push_back(z);
    }
    // p = e_0 + sum of t_k (e_k - e_0): the normal equations of the edges.
    const std::size_t edges = face.size() - 1;
    if (edges > d) continue;
    std::vector<std::vector<Real>> squares(edges, std::vector<Real>(edges, 0));
    std::vector<Real> t(edges, 0);
    Real size = 0;
    for (std::size_t a = 0; a < edges; ++a) {
      for (std::size_t k = 0; k < d; ++k) {
        const Real edge = at(k, face[a + 1]) - at(k, face[0]);
        t[a] += edge * (of_x(k) - at(k, face[0]));
        for (std::size_t b = 0; b < edges; ++b) {
          squares[a][b] += edge * (at(k, face[b + 1]) - at(k, face[0]));
        }
      }
      size = std::max(size, squares[a][a]);
    }
    if (edges > 0 && !eliminate(squares, t, 1e-15L * size)) continue;
    Real first = 1;
    bool inside = true;
    for (const Real share : t) {
      first -= share;
      inside = inside && share >= 0;
    }
    if (!inside || first < 0) continue;
    Real square = 0;
    for (std::size_t k = 0; k < d; ++k) {
      Real off = of_x(k) - first * at(k, face[0]);
      for (std::size_t a = 0; a < edges; ++a) off -= t[a] * at(k, face[a + 1]);
      square += off * off;
    }
    if (!(square < best.sq_distance)) continue;
    best.sq_distance = square;
    best.shares = VectorXd::Zero(static_cast<Index>(c));
    best.shares(static_cast<Index>(face[0])) = static_cast<double>(first);
    for (std::size_t a = 0; a < edges; ++a) {
      best.shares(static_cast<Index>(face[a + 1])) = static_cast<double>(t[a]);
    }
  }
  return best;
}

// The size of the corners about their mean, and how far x is from that.
struct Sizes {
  double corners = 0;
  double x = 0;
};
Sizes sizes_of(const MatrixXd& corners, const VectorXd& x) {
  if (corners.rows() == 0) return {};
  const VectorXd mean = corners.rowwise().mean();
  return {std::sqrt((corners.colwise() - mean).colwise().squaredNorm().maxCoeff()),
          (x - mean).norm()};
}

// By how much moving towards a corner could still lower half the squared distance, per unit of the
// way. It is 0 at the nearest point, and half the squared distance is off by no more than it.
double duality_gap(const MatrixXd& corners, const VectorXd& x, const VectorXd& shares) {
  using Wide = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  const Wide off = corners.cast<Real>() * shares.cast<Real>() - x.cast<Real>();
  const Wide slope = corners.cast<Real>().transpose() * off;
  return static_cast<double>(slope.dot(shares.cast<Real>()) - slope.minCoeff());
}

void expect_in_simplex(const VectorXd& shares) {
  EXPECT_GE(shares.minCoeff(), 0);
  EXPECT_NEAR(shares.sum(), 1, 1e-14);
}

// The conditions of the optimum, to the rounding of the slopes: products of corners with corners
// and with x. Shares also, where one point alone is the nearest; condition 0: they are not
// compared.
void expect_best(const MatrixXd& corners, const VectorXd& x, VectorXd shares, double condition) {
  SimplexFit fit(corners);
  const double square = fit(x, shares);
  const Nearest exact = best_of_faces(corners, x);
  const Sizes size = sizes_of(corners, x);
  expect_in_simplex(shares);
  const double rounding = 128 * kEpsilon * size.corners * (size.corners + size.x);
  EXPECT_LE(duality_gap(corners, x, shares), rounding);
  EXPECT_NEAR(square, static_cast<double>(exact.sq_distance),
              2 * rounding + 64 * kEpsilon * static_cast<double>(exact.sq_distance));
  EXPECT_NEAR(square, (x - corners * shares).squaredNorm(), 1e-13 * (1 + square));
  if (condition > 0) {
    const double allowed = condition * kEpsilon * (1 + size.x / size.corners);
    EXPECT_LE((shares - exact.shares).cwiseAbs().maxCoeff(), allowed);
  }
}

VectorXd middle(Index c) { return VectorXd::Constant(c, 1.0 / static_cast<double>(c)); }

struct Shape {
  Index classes;
  Index length;
};

double condition_of(const MatrixXd& m) {
  const VectorXd values = Eigen::JacobiSVD<MatrixXd>(m).singularValues();
  return values(0) / values(values.size() - 1);
}

class SimplexFitOfRandomCorners : public testing::TestWithParam<Shape> {};

TEST_P(SimplexFitOfRandomCorners, IsTheBestOfAllFaces) {
  const auto [c, d] = GetParam();
  const std::uint64_t cases = c > 8 ? 6 : 60;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    const MatrixXd corners = random_matrix(d, c, seed);
    // Well shaped: the edges do not nearly depend on each other.
    const MatrixXd edges = corners.rightCols(c - 1).colwise() - corners.col(0);
    const double condition = c == 1 ? 0 : condition_of(edges);
    const double allowed = 1e3 * condition * condition;
    for (const double far : {0.0, 0.3, 3.0, 1e3, 1e6}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << far << " away");
      const VectorXd inside = corners * random_shares(c, seed);
      const VectorXd x = inside + far * random_matrix(d, 1, 100 + seed);
      expect_best(corners, x, middle(c), allowed);
    }
  }
}

// Mostly d = c - 1, as the rule has it, and d above.
INSTANTIATE_TEST_SUITE_P(Shapes, SimplexFitOfRandomCorners,
                         testing::Values(Shape{1, 1}, Shape{1, 4}, Shape{2, 1}, Shape{2, 5},
                                         Shape{3, 2}, Shape{4, 3}, Shape{5, 9}, Shape{7, 6},
                                         Shape{12, 11}),
                         [](const auto& shape) {
                           return "c" + std::to_string(shape.param.classes) + "d" +
                                  std::to_string(shape.param.length);
                         });

TEST(SimplexFit, PointsOfTheSimplexKeepTheirShares) {
  for (const Index c : {2, 4, 12}) {
    const MatrixXd corners = random_matrix(c - 1, c, 3);
    SimplexFit fit(corners);
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const VectorXd p = random_shares(c, seed);
      VectorXd shares = middle(c);
      EXPECT_LE(fit(corners * p, shares), 1e-22);
      EXPECT_LE((shares - p).cwiseAbs().maxCoeff(), 1e-11) << c << " " << seed;
    }
    for (Index z = 0; z < c; ++z) {
      VectorXd shares = middle(c);
      EXPECT_LE(fit(corners.col(z), shares), 1e-24);
      EXPECT_NEAR(shares(z), 1, 1e-12);
    }
  }
}

// By hand: corners at (0, 0), (4, 0), (0, 4). All arithmetic is exact.
TEST(SimplexFit, Golden) {
  MatrixXd corners(2, 3);
  corners << 0, 4, 0, 0, 0, 4;
  SimplexFit fit(corners);
  struct Golden {
    double x, y, square, p0, p1, p2;
  };
  const Golden cases[] = {
      {1, 1, 0, 0.5, 0.25, 0.25},  // inside
      {2, 0, 0, 0.5, 0.5, 0},      // on an edge
      {2, -3, 9, 0.5, 0.5, 0},     // below that edge
      {-1, -2, 5, 1, 0, 0},        // beyond a corner
      {4, 4, 8, 0, 0.5, 0.5},      // above the long edge
      {9, 1, 26, 0, 1, 0},         // beyond another corner
      {-5, 3, 25, 0.25, 0, 0.75},
  };
  for (const Golden& golden : cases) {
    VectorXd shares = middle(3);
    EXPECT_NEAR(fit(Eigen::Vector2d(golden.x, golden.y), shares), golden.square, 1e-13);
    EXPECT_NEAR(shares(0), golden.p0, 1e-14) << golden.x << " " << golden.y;
    EXPECT_NEAR(shares(1), golden.p1, 1e-14) << golden.x << " " << golden.y;
    EXPECT_NEAR(shares(2), golden.p2, 1e-14) << golden.x << " " << golden.y;
  }
}

// Above an edge the nearest point is the foot on it, however far away x is.
TEST(SimplexFit, FarAboveAnEdge) {
  MatrixXd corners(2, 3);
  corners << 0, 1, 0.5, 0, 0, -1;
  SimplexFit fit(corners);
  for (const double height : {1.0, 1e3, 1e6, 1e9, 1e12}) {
    VectorXd shares = middle(3);
    EXPECT_NEAR(fit(Eigen::Vector2d(0.25, height), shares), height * height,
                1e-14 * height * height);
    EXPECT_NEAR(shares(0), 0.75, 1e-15 * height + 1e-14) << height;
    EXPECT_NEAR(shares(1), 0.25, 1e-15 * height + 1e-14) << height;
    EXPECT_EQ(shares(2), 0) << height;
  }
}

TEST(SimplexFit, ACommonPartOfCornersAndPointsIsNoMatter) {
  const MatrixXd corners = random_matrix(4, 5, 7);
  for (const double common : {1e3, 1e6}) {
    const VectorXd by = common * random_matrix(4, 1, 8);
    const MatrixXd moved = corners.colwise() + by;
    SimplexFit plain(corners);
    SimplexFit fit(moved);
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      const VectorXd x = 2 * random_matrix(4, 1, seed);
      VectorXd expected = middle(5);
      const double square = plain(x, expected);
      VectorXd shares = middle(5);
      // Moving rounds the numbers themselves.
      EXPECT_NEAR(fit(x + by, shares), square, 1e-13 * common);
      EXPECT_LE((shares - expected).cwiseAbs().maxCoeff(), 1e-13 * common);
    }
  }
}

TEST(SimplexFit, EveryStartLeadsToTheSamePoint) {
  for (const Index c : {2, 4, 12}) {
    const MatrixXd corners = random_matrix(c - 1, c, 5);
    SimplexFit fit(corners);
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      const VectorXd x = 1.5 * random_matrix(c - 1, 1, seed);
      VectorXd expected = middle(c);
      const double square = fit(x, expected);
      for (std::uint64_t start = 1; start <= 20; ++start) {
        VectorXd shares = random_shares(c, 1000 + start);
        EXPECT_NEAR(fit(x, shares), square, 1e-12);
        EXPECT_LE((shares - expected).cwiseAbs().maxCoeff(), 1e-10) << c << " " << seed;
      }
      for (Index z = 0; z < c; ++z) {
        VectorXd shares = VectorXd::Unit(c, z);
        EXPECT_NEAR(fit(x, shares), square, 1e-12);
        EXPECT_LE((shares - expected).cwiseAbs().maxCoeff(), 1e-10) << c << " " << seed;
      }
      VectorXd again = expected;
      EXPECT_NEAR(fit(x, again), square, 1e-13);
      EXPECT_LE((again - expected).cwiseAbs().maxCoeff(), 1e-12);
    }
  }
}

TEST(SimplexFit, EqualInputGivesEqualBits) {
  const MatrixXd corners = random_matrix(3, 6, 9);
  const VectorXd x = random_matrix(3, 1, 10);
  VectorXd first = middle(6);
  VectorXd second = middle(6);
  SimplexFit a(corners);
  SimplexFit b(corners);
  VectorXd other = random_shares(6, 1);
  b(random_matrix(3, 1, 11), other);  // an earlier fit leaves no trace
  EXPECT_EQ(a(x, first), b(x, second));
  EXPECT_EQ(first, second);
}

// Corners that coincide, lie on a line, or in a plane: the shares are not unique, the point is.
TEST(SimplexFit, CornersThatDependOnEachOther) {
  std::vector<MatrixXd> all;
  MatrixXd twice(3, 5);  // corners 1 and 3 are equal
  twice << random_matrix(3, 5, 21);
  twice.col(3) = twice.col(1);
  all.push_back(twice);
  MatrixXd same = random_matrix(2, 4, 22);  // all are equal
  same.colwise() = VectorXd(same.col(0));
  all.push_back(same);
  MatrixXd line(2, 5);
  line << 0, 1, 2, 3, 4, 0, 2, 4, 6, 8;
  all.push_back(line);
  all.push_back(random_matrix(2, 6, 23));  // six corners in a plane
  all.push_back(random_matrix(2, 12, 24));
  all.push_back(random_matrix(4, 2, 25) * random_matrix(2, 7, 26));  // the same in four dimensions
  for (std::size_t which = 0; which < all.size(); ++which) {
    const MatrixXd& corners = all[which];
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      for (const double far : {0.0, 1.0, 1e3, 1e6}) {
        SCOPED_TRACE(testing::Message() << "corners " << which << ", seed " << seed << ", " << far);
        const VectorXd x = corners * random_shares(corners.cols(), seed) +
                           far * random_matrix(corners.rows(), 1, 50 + seed);
        expect_best(corners, x, middle(corners.cols()), 0);
        expect_best(corners, x, random_shares(corners.cols(), 70 + seed), 0);
      }
    }
  }
}

// Corners that all but depend on each other are taken to: a direction of less than 3e-7 of the
// corners' size may be missed, and no more.
TEST(SimplexFit, CornersThatNearlyDependOnEachOther) {
  for (const double thin : {1e-4, 1e-6, 1e-7, 1e-8, 1e-10, 1e-13, 1e-16}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      MatrixXd corners = random_matrix(3, 4, seed);
      corners.row(2) *= thin;
      for (const double far : {0.0, 1.0, 100.0}) {
        SCOPED_TRACE(testing::Message() << "thin " << thin << ", seed " << seed << ", " << far);
        const VectorXd x = corners * random_shares(4, seed) + far * random_matrix(3, 1, 300 + seed);
        SimplexFit fit(corners);
        VectorXd shares = middle(4);
        const double square = fit(x, shares);
        expect_in_simplex(shares);
        const Sizes size = sizes_of(corners, x);
        const double missed = 4e-7 * size.corners * std::sqrt(square);
        const double rounding = 128 * kEpsilon * size.corners * (size.corners + size.x);
        EXPECT_LE(duality_gap(corners, x, shares), missed + rounding);
      }
    }
  }
}

TEST(SimplexFit, WithoutDimensionsEveryShareServes) {
  for (const Index c : {1, 2, 12}) {
    const MatrixXd corners(0, c);
    SimplexFit fit(corners);
    for (const VectorXd& start : {middle(c), VectorXd(VectorXd::Unit(c, c - 1))}) {
      VectorXd shares = start;
      EXPECT_EQ(fit(VectorXd(0), shares), 0);
      expect_in_simplex(shares);
    }
  }
}

TEST(SimplexFit, AtAllSizes) {
  const MatrixXd corners = random_matrix(3, 4, 31);
  SimplexFit plain(corners);
  for (const double size : {0x1p-400, 0x1p-100, 0x1p100, 0x1p400}) {
    const MatrixXd scaled = size * corners;
    SimplexFit fit(scaled);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const VectorXd x = 2 * random_matrix(3, 1, seed);
      VectorXd expected = middle(4);
      const double square = plain(x, expected);
      VectorXd shares = middle(4);
      // A power of two changes no digit.
      EXPECT_EQ(fit(size * x, shares) / size / size, square) << size;
      EXPECT_EQ(shares, expected) << size;
    }
  }
}

}  // namespace
}  // namespace boba::algebra
