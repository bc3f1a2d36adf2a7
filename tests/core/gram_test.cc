#include "boba/core/gram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "boba/core/mix.h"

namespace boba {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Rows = std::vector<std::vector<double>>;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

std::vector<double> minus(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) result[k] = a[k] - b[k];
  return result;
}

// The products that a pass over small integer rows would give: exact.
Gram gram_of(const Rows& rows, std::size_t clients, const std::vector<double>& origin) {
  GramPass pass;
  const std::size_t size = rows.size();
  pass.centred.resize(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      pass.centred[i * size + j] = dot(minus(rows[i], origin), minus(rows[j], origin));
    }
    pass.origin_dot.push_back(dot(origin, minus(rows[i], origin)));
  }
  pass.origin_sq = dot(origin, origin);
  return Gram(std::move(pass), clients, DType::kFloat64);
}

// Four clients, two server rows.
const Rows kRows = {{1, 2, 3}, {-4, 0, 2}, {5, 5, -1}, {0, 7, 2}, {3, 1, 1}, {-2, 6, 0}};
const std::vector<double> kOrigin = {2, -1, 4};

void expect_products(const Gram& gram, const Rows& rows, const std::vector<double>& origin) {
  ASSERT_EQ(gram.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(gram.sq_norm(i), dot(rows[i], rows[i]));
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const auto gap = minus(rows[i], rows[j]);
      EXPECT_EQ(gram.centred(i, j), dot(minus(rows[i], origin), minus(rows[j], origin)));
      EXPECT_EQ(gram.dot(i, j), dot(rows[i], rows[j]));
      EXPECT_EQ(gram.sq_distance(i, j), dot(gap, gap));
    }
  }
}

TEST(Gram, GivesProductsAndDistancesAboutAnyOrigin) {
  for (const auto& origin : {kOrigin, std::vector<double>{0, 0, 0}}) {
    const Gram gram = gram_of(kRows, 4, origin);
    EXPECT_EQ(gram.clients(), 4u);
    EXPECT_EQ(gram.servers(), 2u);
    expect_products(gram, kRows, origin);
  }
}

TEST(Gram, KeepsSomeClientsAndAllServerRows) {
  for (const std::vector<std::size_t>& kept :
       {std::vector<std::size_t>{0, 1, 2, 3}, {1, 3}, {0}, {3}, {0, 2, 3}, {}}) {
    Gram gram = gram_of(kRows, 4, kOrigin);
    gram.keep_clients(kept);
    Rows rows;
    for (std::size_t i : kept) rows.push_back(kRows[i]);
    rows.push_back(kRows[4]);
    rows.push_back(kRows[5]);
    EXPECT_EQ(gram.clients(), kept.size());
    EXPECT_EQ(gram.servers(), 2u);
    EXPECT_EQ(gram.centred().size(), rows.size() * rows.size());
    expect_products(gram, rows, kOrigin);
  }
}

TEST(Gram, MixesAsThePlainProductOfMatrices) {
  Mix mix;
  mix.add(std::vector<Mix::Term>{{2, 0.5}, {0, 0.5}});
  mix.add(std::vector<Mix::Term>{{3, 1}});
  mix.add(std::vector<Mix::Term>{{0, 0.25}, {1, 0.25}, {2, 0.25}, {3, 0.25}});
  const Gram mixed = gram_of(kRows, 4, kOrigin).mixed(mix);
  Rows rows;
  for (std::size_t i = 0; i < mix.rows(); ++i) {
    std::vector<double> row(3, 0.0);
    for (const Mix::Term& term : mix.terms(i)) {
      for (std::size_t k = 0; k < 3; ++k) row[k] += term.weight * kRows[term.row][k];
    }
    rows.push_back(row);
  }
  rows.push_back(kRows[4]);
  rows.push_back(kRows[5]);
  EXPECT_EQ(mixed.clients(), 3u);
  EXPECT_EQ(mixed.servers(), 2u);
  // Integers and quarters: every sum is exact.
  expect_products(mixed, rows, kOrigin);
}

TEST(Gram, JoinsServerRowsToTheirMeans) {
  Rows rows = kRows;
  rows.push_back({9, -3, 4});
  rows.push_back({1, 1, 2});
  const Gram two = gram_of(rows, 4, kOrigin).joined(2);
  EXPECT_EQ(two.clients(), 4u);
  EXPECT_EQ(two.servers(), 2u);
  Rows expected(kRows.begin(), kRows.begin() + 4);
  expected.push_back({0.5, 3.5, 0.5});
  expected.push_back({5, -1, 3});
  expect_products(two, expected, kOrigin);

  const Gram four = gram_of(rows, 4, kOrigin).joined(4);
  expected.resize(4);
  expected.push_back({2.75, 1.25, 1.75});
  expect_products(four, expected, kOrigin);
  expect_products(gram_of(rows, 4, kOrigin).joined(1), rows, kOrigin);
}

TEST(Gram, MixedStaysSymmetricToTheLastBit) {
  const Rows rows = {{0.1, 0.7}, {1.0 / 3, -0.9}, {2.1, 1e-3}, {0.2, 0.3}};
  Mix mix;
  mix.add(std::vector<Mix::Term>{{0, 1.0 / 3}, {1, 1.0 / 3}, {2, 1.0 / 3}});
  mix.add(std::vector<Mix::Term>{{2, 0.3}, {0, 0.7}});
  const Gram mixed = gram_of(rows, 3, {0.05, 0.01}).mixed(mix);
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    for (std::size_t j = 0; j < mixed.size(); ++j) {
      EXPECT_EQ(mixed.centred(i, j), mixed.centred(j, i));
    }
  }
}

Gram from_products(std::vector<double> centred, std::size_t size) {
  GramPass pass;
  pass.centred = std::move(centred);
  pass.origin_dot.assign(size, 0.0);
  return Gram(std::move(pass), size, DType::kFloat64);
}

TEST(Gram, DistancesAndNormsNeverGoBelowZero) {
  const Gram gram = from_products({1, 1 + 1e-15, 1 + 1e-15, 1}, 2);
  EXPECT_EQ(gram.sq_distance(0, 1), 0);
  EXPECT_EQ(from_products({-1e-18}, 1).sq_norm(0), 0);
}

// std::max(0.0, NaN) is 0: the usual clamp makes the client that sent NaN everybody's neighbour.
TEST(Gram, ADistanceThatIsNoNumberIsInfinite) {
  EXPECT_EQ(from_products({1, kNan, kNan, 1}, 2).sq_distance(0, 1), kInfinity);
  EXPECT_EQ(from_products({kInfinity, kInfinity, kInfinity, 1}, 2).sq_distance(0, 1), kInfinity);
  EXPECT_EQ(from_products({kNan}, 1).sq_norm(0), kInfinity);
}

TEST(Gram, DistancesOfAClientAreThoseOfItsPairs) {
  const std::vector<double> values = {0, 1, -3, 1e300, -1e300, 1e308, kInfinity, -kInfinity, kNan};
  const std::size_t size = 8;
  GramPass pass;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      pass.centred.push_back(values[(i + j) * (i + j + 1) % values.size()]);
    }
    pass.origin_dot.push_back(0);
  }
  Gram gram(std::move(pass), 6, DType::kFloat64);
  const auto expect_pairs = [&] {
    std::vector<double> distances(gram.clients());
    for (std::size_t i = 0; i < gram.clients(); ++i) {
      gram.sq_distances(i, distances);
      for (std::size_t j = 0; j < gram.clients(); ++j) {
        EXPECT_EQ(distances[j], gram.sq_distance(i, j)) << i << " " << j;
      }
    }
  };
  expect_pairs();
  const std::vector<std::size_t> kept = {1, 2, 5};
  gram.keep_clients(kept);
  expect_pairs();
  Mix mix;
  mix.add(std::vector<Mix::Term>{{0, 0.5}, {2, 0.5}});
  mix.add(std::vector<Mix::Term>{{1, 1.0}});
  gram = gram.mixed(mix);
  expect_pairs();
}

TEST(Gram, KnowsTheRoundingOfTheRowsType) {
  Mix mix;
  mix.add(std::vector<Mix::Term>{{0, 1}});
  const Gram wide = from_products({1}, 1);
  EXPECT_EQ(wide.rounding(), 0x1p-53);
  EXPECT_EQ(wide.mixed(mix).rounding(), 0x1p-53);
  GramPass pass;
  pass.centred = {1};
  pass.origin_dot = {0};
  EXPECT_EQ(Gram(pass, 1, DType::kFloat32).rounding(), 0x1p-24);
}

TEST(OriginFit, FindsTheMedoid) {
  const OriginFit fit = origin_fit(gram_of({{0}, {10}, {11}, {12}, {100}}, 5, {11}));
  EXPECT_EQ(fit.medoid, 2u);
}

TEST(OriginFit, TiesGoToTheLowerIndex) {
  EXPECT_EQ(origin_fit(gram_of({{3}, {3}, {3}}, 3, {0})).medoid, 0u);
  EXPECT_EQ(origin_fit(gram_of({{0}, {1}}, 2, {0})).medoid, 0u);
}

TEST(OriginFit, ConditionIsTheSquaredDistanceOfTheOriginInSpreads) {
  // Clients 99, 101, 103: the medoid's median squared distance is 4.
  const Rows rows = {{99}, {101}, {103}};
  EXPECT_EQ(origin_fit(gram_of(rows, 3, {101})).condition, 1);
  EXPECT_EQ(origin_fit(gram_of(rows, 3, {0})).condition, 101.0 * 101.0 / 4);
}

TEST(OriginFit, IgnoresServerRows) {
  const OriginFit fit = origin_fit(gram_of({{0}, {3}, {4}, {1000}, {1000}}, 3, {3}));
  EXPECT_EQ(fit.medoid, 1u);
  EXPECT_EQ(fit.condition, 1);
}

TEST(OriginFit, EqualUpdatesAreFineAboutThemselvesOnly) {
  EXPECT_EQ(origin_fit(gram_of({{5}, {5}, {5}}, 3, {5})).condition, 1);
  EXPECT_EQ(origin_fit(gram_of({{0}, {0}, {0}}, 3, {0})).condition, 1);
  EXPECT_EQ(origin_fit(gram_of({{5}, {5}, {5}}, 3, {0})).condition, kInfinity);
}

}  // namespace
}  // namespace boba
