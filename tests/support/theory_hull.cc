#include "tests/support/theory_hull.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "boba/algebra/simplex_fit.h"
#include "boba/core/gram.h"
#include "boba/core/random.h"
#include "boba/rules/hull_fit.h"
#include "boba/rules/subspace.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

Gram gram_of(const MatrixXd& rows, std::size_t clients) {
  const MatrixXd k = rows * rows.transpose();
  GramPass pass;
  pass.centred.assign(k.data(), k.data() + k.size());
  pass.origin_dot.assign(static_cast<std::size_t>(rows.rows()), 0.0);
  return Gram(std::move(pass), clients, DType::kFloat64);
}

// Of each group of at most f + 1 copies the first counts, unless more than f would not.
std::vector<bool> that_count(const std::vector<ClientVerdict>& clients, std::size_t f) {
  std::vector<std::size_t> size(clients.size(), 1);
  for (const ClientVerdict& client : clients) {
    if (client.copy_of) ++size[*client.copy_of];
  }
  std::vector<bool> counted(clients.size(), true);
  std::size_t spare = 0;
  for (const ClientVerdict& client : clients) {
    if (!client.copy_of || size[*client.copy_of] > f + 1) continue;
    counted[client.index] = false;
    ++spare;
  }
  return spare <= f ? counted : std::vector<bool>(clients.size(), true);
}

std::size_t trues(const std::vector<bool>& all) {
  return static_cast<std::size_t>(std::count(all.begin(), all.end(), true));
}

}  // namespace

TheoryRound random_federation(std::uint64_t seed, double epsilon, double epsilon_s, Mixes mixes) {
  std::uint64_t at = 0;
  const StreamKey key{.seed = seed, .purpose = Purpose::kSynthetic};
  const auto below = [&](int most) {
    return std::min(most - 1, static_cast<int>(uniform_at(key, at++) * most));
  };
  const auto normal_rows = [&](Index rows, Index length, double size) {
    MatrixXd m(rows, length);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < length; ++j) m(i, j) = normal_at(key, at++);
    }
    return (size / std::sqrt(static_cast<double>(length)) * m).eval();
  };
  const Index classes = 2 + below(5);
  const Index honest = 18 + below(45);
  const Index length = 20 + below(60);
  TheoryRound round;
  // What all classes share, and what each has of its own.
  const RowVectorXd common = normal_rows(1, length, 1);
  round.corners = normal_rows(classes, length, 1).rowwise() + common;
  round.mix = MatrixXd::Zero(honest, classes);
  for (Index i = 0; i < honest; ++i) {
    round.mix(i, i % classes) = 0.05 + uniform_at(key, at++);
    for (int more = below(3); more > 0; --more) {
      round.mix(i, below(static_cast<int>(classes))) += uniform_at(key, at++);
    }
    if (mixes == Mixes::kAllDiffer) round.mix(i, (i + 1) % classes) += uniform_at(key, at++);
    round.mix.row(i) /= round.mix.row(i).sum();
  }
  round.expected = round.mix * round.corners;
  round.honest = round.expected;
  for (Index i = 0; i < honest; ++i) {
    const double own = epsilon * (0.5 + uniform_at(key, at++));
    round.honest.row(i) += normal_rows(1, length, own);
  }
  round.server = round.corners + normal_rows(classes, length, epsilon_s);
  return round;
}

std::vector<double> distances_from(const MatrixXd& corners, const MatrixXd& rows) {
  const MatrixXd columns = corners.transpose();
  algebra::SimplexFit fit(columns);
  VectorXd shares = VectorXd::Constant(corners.rows(), 1 / static_cast<double>(corners.rows()));
  std::vector<double> distances;
  for (Index i = 0; i < rows.rows(); ++i) {
    distances.push_back(std::sqrt(fit(rows.row(i).transpose(), shares)));
  }
  return distances;
}

std::string HullSpec::text() const {
  return fmt::format("boba-hull(f={},kappa={},max_passes={})", f, kappa, max_passes);
}

std::size_t HullRun::count() const { return trues(counted); }
std::size_t HullRun::accepted_rows() const { return trues(accepted); }
std::size_t HullRun::liars(std::size_t honest) const {
  std::size_t liars = 0;
  for (std::size_t i = honest; i < accepted.size(); ++i) liars += accepted[i] ? 1 : 0;
  return liars;
}

HullRun hull_run(const HullSpec& spec, const MatrixXd& rows, const MatrixXd& server) {
  const MatrixOutcome outcome = outcome_of(spec.text(), rows, server);
  HullRun run;
  run.out = outcome.out;
  run.typical = outcome.verdict.measures.at(0).value;
  run.counted = that_count(outcome.verdict.clients, static_cast<std::size_t>(spec.f));
  run.filled = mentions(outcome.verdict.warnings, "fewer than n - 2f");
  std::vector<std::size_t> clients;
  for (const ClientVerdict& client : outcome.verdict.clients) {
    EXPECT_FALSE(client.refused) << client.reason;
    run.accepted.push_back(client.accepted);
    run.distance.push_back(measure(client, "distance") * run.typical);
    if (run.counted[client.index]) clients.push_back(client.index);
  }

  // The simplex itself is not in the verdict: the fit is made again.
  const auto n = static_cast<std::size_t>(rows.rows());
  MatrixXd all(rows.rows() + server.rows(), rows.cols());
  all << rows, server;
  const Gram gram = gram_of(all, n);
  std::vector<std::size_t> of_server(static_cast<std::size_t>(server.rows()));
  std::iota(of_server.begin(), of_server.end(), n);
  const HullFit fit =
      fit_hull(gram, corners_at(gram, of_server), clients,
               clients.size() - static_cast<std::size_t>(spec.f), spec.kappa, spec.max_passes);
  EXPECT_NEAR(fit.typical, run.typical, 1e-6 * run.typical + 1e-12);
  const RowVectorXd point = fit.plane.m.transpose() * all;
  const MatrixXd basis = fit.plane.w.transpose() * all;
  run.corners = (fit.corners.transpose() * basis).rowwise() + point;
  run.set = fit.set;
  run.settled = fit.settled;
  const std::vector<double> again = distances_from(run.corners, rows);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(again[i], run.distance[i], 1e-5 * (again[i] + run.typical) + 1e-12)
        << "client " << i;
  }
  for (std::size_t i : fit.set) {
    const RowVectorXd from = rows.row(static_cast<Index>(i)) - point;
    run.residual += (from - from * basis.transpose() * basis).squaredNorm();
  }
  const MatrixXd from = server.rowwise() - point;
  run.first = (from * basis.transpose() * basis).rowwise() + point;
  return run;
}

HullError hull_error(const HullSpec& spec, const HullRun& run, const MatrixXd& rows,
                     std::size_t honest) {
  const RowVectorXd mean = rows.topRows(static_cast<Index>(honest)).colwise().mean();
  const auto m = static_cast<double>(run.accepted_rows());
  HullError e;
  e.error = (run.out.transpose() - mean).norm();
  e.radius = (run.corners.rowwise() - mean).rowwise().norm().maxCoeff();
  e.reach = spec.kappa * run.typical;
  double farthest = 0;
  std::size_t lost = 0;
  for (std::size_t i = 0; i < honest; ++i) {
    if (run.counted[i] && run.filled) e.reach = std::max(e.reach, run.distance[i]);
    if (run.accepted[i]) continue;
    ++lost;
    farthest = std::max(farthest, (rows.row(static_cast<Index>(i)) - mean).norm());
  }
  e.liars = static_cast<double>(run.liars(honest)) / m;
  e.lost = static_cast<double>(lost) / m;
  e.bound = e.liars * (e.radius + e.reach) + e.lost * farthest;
  return e;
}

Certificate certificate(int f, const HullRun& run, const MatrixXd& rows) {
  const auto m = static_cast<Index>(run.accepted_rows());
  MatrixXd kept(m, rows.cols());
  std::vector<double> from;
  for (Index i = 0, k = 0; i < rows.rows(); ++i) {
    if (!run.accepted[static_cast<std::size_t>(i)]) continue;
    kept.row(k) = rows.row(i) - run.out.transpose();
    from.push_back(kept.row(k++).norm());
  }
  std::sort(from.rbegin(), from.rend());
  const double sum = std::accumulate(from.begin(), from.begin() + f, 0.0);
  const double others = static_cast<double>(m - f);
  const double largest = Eigen::BDCSVD<MatrixXd>(kept).singularValues()(0);
  return {.farthest = sum / others,
          .deviation = largest * std::sqrt(f / (others * static_cast<double>(m)))};
}

double error_among_accepted(const HullRun& run, const MatrixXd& rows, std::size_t honest) {
  RowVectorXd sum = RowVectorXd::Zero(rows.cols());
  double count = 0;
  for (std::size_t i = 0; i < honest; ++i) {
    if (!run.accepted[i]) continue;
    sum += rows.row(static_cast<Index>(i));
    ++count;
  }
  return (run.out.transpose() - sum / count).norm();
}

}  // namespace boba::test
