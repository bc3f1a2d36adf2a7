// Rounds that a minority of clients once steered with finite numbers. Each rule must stay near the
// honest clients, and no liar may have a weight.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "boba/rules/subspace_report.h"
#include "tests/support/label_skew.h"
#include "tests/support/rules_loss.h"
#include "tests/support/rules_round.h"

namespace boba::test {
namespace {

// Rows of liars before, between or after honest ones.
struct Crowd {
  RoundInput input;
  std::vector<std::size_t> liars;

  bool honest(std::size_t i) const {
    return std::find(liars.begin(), liars.end(), i) == liars.end();
  }

  Row mean() const {
    Row sum(input.updates.front().size(), 0.0);
    for (std::size_t i = 0; i < input.updates.size(); ++i) {
      if (honest(i)) sum = plus(sum, input.updates[i]);
    }
    return scaled({sum}, 1 / static_cast<double>(input.updates.size() - liars.size())).front();
  }

  double spread() const {
    const Row middle = mean();
    double sum = 0;
    for (std::size_t i = 0; i < input.updates.size(); ++i) {
      if (!honest(i)) continue;
      const double far = norm(plus(input.updates[i], middle, -1));
      sum += far * far;
    }
    return std::sqrt(sum / static_cast<double>(input.updates.size() - liars.size()));
  }
};

const Kernels& fast() { return *all_kernels()[1]; }

// How far the result is from the honest mean, in spreads; and nobody who lies has a weight.
double deviation(const std::string& spec, const Crowd& crowd) {
  const Outcome outcome = run(fast(), spec, crowd.input);
  for (std::size_t liar : crowd.liars) {
    EXPECT_EQ(outcome.verdict.weights[liar], 0) << spec << ", client " << liar;
  }
  return norm(plus(outcome.out, crowd.mean(), -1)) / crowd.spread();
}

// 97 honest rows around 3. The first liar is the honest mean where an origin was looked for, and
// became it; the others hid behind its rounding.
Crowd captured_origin(DType dtype, std::size_t length) {
  Crowd crowd;
  crowd.input.dtype = dtype;
  crowd.input.updates = rounded(shifted(random_rows(97, length, 5), Row(length, 3.0)), dtype);
  const Row middle = rounded(crowd.mean(), dtype);
  const double sizes[] = {1e36, 1e20, 1e12};
  for (std::size_t k = 0; k < 3; ++k) {
    Row row = middle;
    row[17 + k] = sizes[k];
    crowd.input.updates.insert(crowd.input.updates.begin() + static_cast<std::ptrdiff_t>(k), row);
    crowd.liars.push_back(k);
  }
  crowd.input.updates = rounded(crowd.input.updates, dtype);
  return crowd;
}

class CapturedOrigin : public testing::TestWithParam<const char*> {};

TEST_P(CapturedOrigin, LiarsGainNothing) {
  for (const std::size_t length : {8192, 9000}) {
    const Crowd crowd = captured_origin(DType::kFloat32, length);
    EXPECT_LT(deviation(GetParam(), crowd), 1.5) << length;
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, CapturedOrigin,
                         testing::Values("krum(f=3)", "mkrum(f=3)", "geomed", "rage(f=3)",
                                         "b-krum(f=3)", "b-mkrum(f=3)", "bucketing(s=2) | geomed"));

// Half of the liars send A, half -A with a little in a second column. They do not know the seed;
// where two of them meet in a bucket, A is gone.
class CancellingPairs : public testing::TestWithParam<const char*> {};

TEST_P(CancellingPairs, NoSeedHelpsThem) {
  constexpr std::size_t kLength = 20;
  for (const DType dtype : kDTypes) {
    Crowd crowd;
    crowd.input.dtype = dtype;
    crowd.input.updates = random_rows(100, kLength, 6);
    for (std::size_t i = 0; i < 15; ++i) {
      Row row(kLength, 0.0);
      row[0] = i % 2 == 0 ? 1e12 : -1e12;
      row[1] = 1e4;
      crowd.input.updates[i] = row;
      crowd.liars.push_back(i);
    }
    crowd.input.updates = rounded(crowd.input.updates, dtype);
    std::vector<std::uint64_t> lost;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      crowd.input.seed = seed;
      if (!(deviation(GetParam(), crowd) < 2)) lost.push_back(seed);
    }
    EXPECT_TRUE(lost.empty()) << name(dtype) << ": lost with " << lost.size() << " seeds, first "
                              << lost.front();
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, CancellingPairs,
                         testing::Values("bucketing(s=2) | krum(f=15)", "bucketing(s=2) | geomed"));

Rows rows_of(const Eigen::MatrixXd& matrix) {
  Rows rows;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    Row& row = rows.emplace_back();
    for (Eigen::Index k = 0; k < matrix.cols(); ++k) row.push_back(matrix(i, k));
  }
  return rows;
}

// Label-skewed rows; liar k sends make(k, server rows).
template <class Make>
Crowd skewed(SkewOptions options, DType dtype, const Make& make) {
  const SkewedRound round = make_skewed(options);
  Crowd crowd;
  crowd.input.dtype = dtype;
  crowd.input.updates = rounded(rows_of(round.updates), dtype);
  crowd.input.server = rounded(rows_of(round.server), dtype);
  for (int k = 0; k < options.byzantine; ++k) {
    const auto i = static_cast<std::size_t>(options.honest + k);
    crowd.input.updates[i] = rounded(make(k, crowd.input.server), dtype);
    crowd.liars.push_back(i);
  }
  return crowd;
}

// corner a + t (corner a - corner b).
Row beyond(const Rows& server, std::size_t a, std::size_t b, double t) {
  return plus(plus(server[a], server[a], t), server[b], -t);
}

class FarInSpan : public testing::TestWithParam<DType> {
 protected:
  static void expect_near(const char* spec, double least) {
    SkewOptions options{.honest = 45, .byzantine = 7, .classes = 4, .length = 60};
    for (const double t : {1e4, 1e6, 1e8, 1e10, 1e14, 1e20, 1e30}) {
      if (t < least) continue;
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        options.seed = seed;
        const Crowd crowd = skewed(options, GetParam(), [&](int k, const Rows& server) {
          return beyond(server, static_cast<std::size_t>(k) % 2, 2, k % 3 == 0 ? t : t / 3);
        });
        EXPECT_LT(deviation(spec, crowd), 1) << spec << ", t = " << t << ", seed " << seed;
      }
    }
  }
};

TEST_P(FarInSpan, BobaRejectsOrRefusesThem) { expect_near("boba(f=8)", 1e4); }
// Only stage 2 rejects rows within the subspace; nearer ones count by definition.
TEST_P(FarInSpan, BobaWithoutStage2RefusesThem) { expect_near("boba-no-stage2(f=8)", 1e8); }

TEST_P(FarInSpan, BobaEsRefusesOppositeRows) {
  SkewOptions options{.honest = 6, .byzantine = 2};
  for (const int length : {3, 30}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      options.length = length;
      options.classes = seed % 2 == 0 ? 2 : 3;
      options.common = seed % 4 < 2 ? 1 : 1e4;
      options.seed = seed;
      for (const double size : {1e4, 1e8, 1e12, 1e20, 1e35}) {
        const Crowd column = skewed(options, GetParam(), [&](int k, const Rows&) {
          Row row(static_cast<std::size_t>(length), 0.0);
          row[2] = k == 0 ? size : -size;
          return row;
        });
        EXPECT_LT(deviation("boba-es(f=2)", column), 1) << size << ", seed " << seed;
        const Crowd span = skewed(options, GetParam(), [&](int k, const Rows& server) {
          return beyond(server, 0, 1, k == 0 ? size : -size);
        });
        EXPECT_LT(deviation("boba-es(f=2)", span), 1) << size << " in the span, seed " << seed;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, FarInSpan, testing::ValuesIn(kDTypes),
                         [](const auto& type) { return std::string(name(type.param)); });

TEST(OppositeRows, AvgrejDoesNotKeepTheirRounding) {
  constexpr std::size_t kLength = 12;
  Crowd crowd;
  crowd.input.dtype = DType::kFloat32;
  crowd.input.updates = random_rows(10, kLength, 8);
  for (const std::size_t i : {2, 7}) {
    Row row(kLength, 0.0);
    row[5] = i == 2 ? 1e36 : -1e36 * (1 - 0x1p-20);
    crowd.input.updates[i] = row;
    crowd.liars.push_back(i);
  }
  crowd.input.updates = rounded(crowd.input.updates, DType::kFloat32);
  QuadraticLoss loss = QuadraticLoss::random(kLength, 3);
  crowd.input.oracle = &loss;
  crowd.input.model = rounded(random_rows(1, kLength, 4).front(), DType::kFloat32);
  EXPECT_LT(deviation("avgrej(f=2)", crowd), 1);
}

// Honest clients of three classes out of four leave a direction free. A liar just inside the bound
// of the fit took it: for the rounding of its square all subsets fit equally well, and the first
// won.
TEST(LargeRow, DoesNotTieTheSubsetsOfBobaEs) {
  constexpr std::size_t kLength = 40;
  for (const DType dtype : kDTypes) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Crowd crowd;
      crowd.input.dtype = dtype;
      crowd.input.server = rounded(random_rows(4, kLength, seed), dtype);
      const Rows shares = random_rows(6, 3, seed + 100);
      const Rows noise = random_rows(6, kLength, seed + 200);
      for (std::size_t i = 0; i < 6; ++i) {
        Row row = scaled({noise[i]}, 1e-6).front();
        double sum = 0;
        for (std::size_t k = 0; k < 3; ++k) sum += std::abs(shares[i][k]);
        for (std::size_t k = 0; k < 3; ++k) {
          row = plus(row, crowd.input.server[k], std::abs(shares[i][k]) / sum);
        }
        crowd.input.updates.push_back(row);
      }
      crowd.liars = {2};
      crowd.input.updates[2] = plus(crowd.mean(), noise[2], 900 * crowd.spread() / norm(noise[2]));
      crowd.input.updates = rounded(crowd.input.updates, dtype);
      const Outcome outcome = run(fast(), "boba-es(f=1)", crowd.input);
      EXPECT_EQ(outcome.verdict.weights[2], 0) << name(dtype) << ", seed " << seed;
      EXPECT_FALSE(in_fit(outcome.verdict.clients[2]).value_or(true)) << name(dtype);
    }
  }
}

// The steps of a descent are short inside a cluster, wherever the median is.
TEST(Cluster, OfLiarsDoesNotHoldGeomed) {
  constexpr std::size_t kLength = 17;
  for (const DType dtype : kDTypes) {
    RoundInput input{.updates = random_rows(17, kLength, 5), .dtype = dtype};
    for (std::size_t i = 0; i < 17; ++i) {
      for (double& x : input.updates[i]) x = i < 6 ? 1e-9 * x : 1.3 + 1.5 * x;
    }
    input.updates = rounded(input.updates, dtype);
    const Outcome outcome = run(fast(), "geomed", input);
    // At the median the directions to all updates cancel.
    Row pull(kLength, 0.0);
    for (const Row& row : input.updates) {
      const Row away = plus(row, outcome.out, -1);
      pull = plus(pull, away, 1 / norm(away));
    }
    EXPECT_LT(norm(pull), 1e-4) << name(dtype);
  }
}

// The median lies near a cluster, where the rounding of float32 products hid the way to it. The row
// far out keeps the products about 0.
TEST(Cluster, NearTheMedianDoesNotDrownInRounding) {
  const RoundInput input{.updates = rounded({{0.289048553, 1.19956851},
                                             {-0.680769205, 0.27323699},
                                             {0.435120016, -0.409232557},
                                             {-0.304049909, 0.0601087064},
                                             {0.29074651, 1.19956923},
                                             {0.289048553, 1.19956851},
                                             {2e34, 0},
                                             {0.579923034, 0.17322655},
                                             {0.289047807, 1.19956851},
                                             {0.355832189, 1.16857255}},
                                            DType::kFloat32),
                         .dtype = DType::kFloat32};
  const Outcome outcome = run(fast(), "geomed", input);
  EXPECT_TRUE(outcome.verdict.clients[6].refused);
  Row pull(2, 0.0);
  for (std::size_t i = 0; i < input.updates.size(); ++i) {
    if (i == 6) continue;
    const Row away = plus(input.updates[i], outcome.out, -1);
    pull = plus(pull, away, 1 / norm(away));
  }
  EXPECT_LT(norm(pull), 1e-3);
}

// A bucket of two tiny rows that point away from the server has no trust, whatever is left of its
// products with rows of size 1.
TEST(ShortBucket, KeepsItsDirectionInFltrust) {
  constexpr std::size_t kLength = 9000;
  RoundInput input{.updates = random_rows(14, kLength, 5), .dtype = DType::kFloat32};
  input.server = random_rows(1, kLength, 6);
  for (const std::size_t i : {3, 8}) input.updates[i] = scaled(input.server, -1e-20).front();
  input.updates = rounded(input.updates, DType::kFloat32);
  std::size_t together = 0;
  for (input.seed = 1; input.seed <= 60; ++input.seed) {
    const Outcome outcome = run(fast(), "bucketing(s=2) | fltrust", input);
    const auto& clients = outcome.verdict.clients;
    if (clients[3].bucket != clients[8].bucket) continue;
    ++together;
    EXPECT_NEAR(measure(clients[3].measures, "cosine"), -1, 1e-5) << "seed " << input.seed;
    EXPECT_EQ(outcome.verdict.weights[3], 0) << "seed " << input.seed;
  }
  EXPECT_GT(together, 0U);
}

// Nearly equal updates of honest clients do not count as copies of each other. With them gone,
// three liars were half of those that counted, and the typical distance was theirs.
TEST(HonestCopies, LeaveNoMajorityToLiars) {
  for (const DType dtype : kDTypes) {
    for (const double size : {1e1, 1e3, 1e5}) {
      const Crowd crowd{.input = {.updates = {{0.1, 0.01, 0},
                                              {0.5, -0.01, 0},
                                              {0, size, -size},
                                              {0, -size, size / 2},
                                              {0.7, 0.01, 0},
                                              {0.7, 0.01, 0},
                                              {0.7, 0.01, 0},
                                              {0.7, 0.01, 0},
                                              {0, size / 3, size}},
                                  .dtype = dtype,
                                  .server = {{0, 0, 0}, {1, 0, 0}}},
                        .liars = {2, 3, 8}};
      EXPECT_LT(deviation("boba-hull(f=3)", crowd), 1) << name(dtype) << ", " << size;
      EXPECT_LT(deviation("boba-hull(f=3,classes=2)", crowd), 1) << name(dtype) << ", " << size;
    }
  }
}

// Far out, float32 products cannot tell the liars apart. They were taken for copies, so that fewer
// clients counted, and only three honest ones shaped the simplex.
TEST(FarRows, AreNoCopiesByRounding) {
  for (const DType dtype : kDTypes) {
    const Crowd crowd{.input = {.updates = {{0.763, -0.679},
                                            {0.9265, 0.6529},
                                            {0.9454, 0.6087},
                                            {0.73, -0.4414},
                                            {0.7304, 0.5786},
                                            {7e6, -1.6e6},
                                            {7e6 + 100, -1.6e6},
                                            {7e6 - 3000, -1.6e6}},
                                .dtype = dtype},
                      .liars = {5, 6, 7}};
    EXPECT_LT(deviation("boba-hull(f=3,classes=2)", crowd), 1e-6) << name(dtype);
    const Outcome outcome = run(fast(), "boba-hull(f=3,classes=2)", crowd.input);
    for (std::size_t liar : crowd.liars) {
      EXPECT_FALSE(outcome.verdict.clients[liar].copy_of) << name(dtype);
    }
  }
}

}  // namespace
}  // namespace boba::test
