#include "tests/support/theory_rounds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "boba/attacks/registry.h"
#include "boba/core/random.h"
#include "boba/kernels/cpu/cpu.h"
#include "tests/support/label_skew.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// Normal numbers whose row has E |row|^2 = 1.
MatrixXd normal_rows(std::uint64_t seed, std::uint32_t which, Index rows, Index length) {
  MatrixXd m(rows, length);
  for (Index i = 0; i < rows; ++i) {
    const StreamKey key{.seed = seed,
                        .round = which,
                        .client = static_cast<std::uint32_t>(i),
                        .purpose = Purpose::kSynthetic};
    for (Index j = 0; j < length; ++j) m(i, j) = normal_at(key, static_cast<std::uint64_t>(j));
  }
  return m / std::sqrt(static_cast<double>(length));
}

}  // namespace

TheoryRound make_theory(const TheoryOptions& o) {
  TheoryRound round;
  round.corners = o.size * normal_rows(0, 1, o.classes, o.length);
  round.mix = MatrixXd::Zero(o.honest, o.classes);
  for (int i = 0; i < o.honest; ++i) {
    // Mostly two classes, in changing proportions, and a little of all, so that few clients are on
    // one edge of the simplex: their subsets have to span it.
    const double share = static_cast<double>((3 * i) % 5) / 4;
    round.mix.row(i).setConstant(0.1 * static_cast<double>(i % 4) / o.classes);
    const double rest = 1 - round.mix.row(i).sum();
    round.mix(i, i % o.classes) += rest * share;
    round.mix(i, (i + 1 + i / o.classes) % o.classes) += rest * (1 - share);
  }
  round.expected = round.mix * round.corners;
  round.honest = round.expected + o.epsilon * normal_rows(o.seed, 2, o.honest, o.length);
  round.server = round.corners + o.epsilon_s * normal_rows(o.seed, 3, o.classes, o.length);
  return round;
}

MatrixXd attacked(const TheoryRound& round, const std::string& attack, int byzantine,
                  std::uint32_t number) {
  if (attack == "none" || byzantine == 0) return round.honest;
  MatrixXd all(round.honest.rows() + byzantine, round.honest.cols());
  all.topRows(round.honest.rows()) = round.honest;
  if (attack == "cluster") {
    const MatrixXd point = 3 * round.corners.norm() * normal_rows(0, 9, 1, all.cols());
    all.bottomRows(byzantine) = point.replicate(byzantine, 1);
    return all;
  }
  const UpdateMatrix honest = to_updates(round.honest, DType::kFloat64);
  const UpdateMatrix server = to_updates(round.server, DType::kFloat64);
  UpdateMatrix out(DType::kFloat64, static_cast<std::size_t>(byzantine), honest.length());
  std::vector<MutableRow> rows;
  for (std::size_t j = 0; j < out.rows(); ++j) rows.push_back(out.row(j));
  const Result<NamedAttack> made = make_attack(attack);
  const auto forged = made->attack->forge(
      *make_cpu_kernels({.threads = 1}),
      {.honest = honest.view(), .server = server.view(), .number = number}, rows);
  if (!forged) ADD_FAILURE() << attack << ": " << forged.error().message;
  all.bottomRows(byzantine) = to_matrix(out.view());
  return all;
}

MatrixOutcome outcome_of(const std::string& rule, const MatrixXd& updates, const MatrixXd& server) {
  return run(rule, to_updates(updates, DType::kFloat64), to_updates(server, DType::kFloat64), 1);
}

double sigma_of_subsets(const MatrixXd& rows, int count, int direction) {
  std::vector<bool> chosen(static_cast<std::size_t>(rows.rows()));
  std::fill_n(chosen.begin(), count, true);
  double least = std::numeric_limits<double>::infinity();
  do {
    MatrixXd subset(count, rows.cols());
    Index k = 0;
    for (Index i = 0; i < rows.rows(); ++i) {
      if (chosen[static_cast<std::size_t>(i)]) subset.row(k++) = rows.row(i);
    }
    least = std::min(least, singular_value(subset, direction - 1));
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return least;
}

double slope(const std::vector<double>& x, const std::vector<double>& y) {
  const auto count = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double a = std::log(x[k]);
    const double b = std::log(y[k]);
    sx += a;
    sy += b;
    sxx += a * a;
    sxy += a * b;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

void plotted(const std::string& figure, const std::string& line, double x, double y) {
  const char* path = std::getenv("BOBA_THEORY_POINTS");
  if (path == nullptr) return;
  std::ofstream file(path, std::ios::app);
  file << fmt::format("{},{},{:.6g},{:.6g}\n", figure, line, x, y);
}

}  // namespace boba::test
