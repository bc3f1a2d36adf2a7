#include "boba/attacks/inside.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "tests/support/attacks_rows.h"
#include "tests/support/label_skew.h"

namespace boba::testing {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::make_skewed;
using test::SkewedRound;
using test::to_matrix;
using test::to_updates;

struct Sent {
  MatrixXd rows;
  AttackReport report;
  std::string error;

  double measure(std::string_view name) const {
    for (const NamedValue& value : report.measures) {
      if (value.name == name) return value.value;
    }
    return std::nan("");
  }
};

// labels: whether the attackers know the honest label mixes; else they know the server's gradients.
Sent send(const std::string& spec, const SkewedRound& data, bool labels, std::uint32_t number = 1) {
  const Result<NamedAttack> made = make_attack(spec);
  const UpdateMatrix honest = to_updates(data.updates, DType::kFloat64);
  const UpdateMatrix server = to_updates(data.server, DType::kFloat64);
  UpdateMatrix out(DType::kFloat64, 2, honest.length());
  const std::vector<MutableRow> rows = {out.row(0), out.row(1)};
  std::vector<double> mixes;
  for (Index i = 0; labels && i < data.true_mix.rows(); ++i) {
    for (Index z = 0; z < data.true_mix.cols(); ++z) mixes.push_back(data.true_mix(i, z));
  }
  AttackRound round{.honest = honest.view(), .number = number, .label_mixes = mixes};
  if (!labels) round.server = server.view();
  const Result<AttackReport> report =
      made->attack->forge(*make_cpu_kernels({.threads = 2}), round, rows);
  if (!report) return {MatrixXd::Zero(2, honest.length()), {}, report.error().message};
  return {to_matrix(out.view()), *report, ""};
}

// The class gradients that explain the updates, one per row, by least squares in d-space.
MatrixXd class_gradients(const SkewedRound& data) {
  return data.true_mix.colPivHouseholderQr().solve(data.updates);
}

// The median distance from the simplex of the corners, by projected gradient steps in d-space.
double typical_plainly(const MatrixXd& updates, const MatrixXd& corners) {
  const MatrixXd k = corners * corners.transpose();
  const double step = 1 / k.trace();
  std::vector<double> distances;
  for (Index i = 0; i < updates.rows(); ++i) {
    const VectorXd b = corners * updates.row(i).transpose();
    VectorXd p = VectorXd::Constant(corners.rows(), 1 / static_cast<double>(corners.rows()));
    for (int t = 0; t < 20000; ++t) {
      VectorXd q = p - step * (k * p - b);
      // Projection on the simplex: shift and cut, the shift found by sorting.
      std::vector<double> sorted(q.data(), q.data() + q.size());
      std::sort(sorted.rbegin(), sorted.rend());
      double sum = 0;
      double shift = 0;
      for (std::size_t j = 0; j < sorted.size(); ++j) {
        sum += sorted[j];
        const double next = (sum - 1) / static_cast<double>(j + 1);
        if (sorted[j] > next) shift = next;
      }
      p = (q.array() - shift).cwiseMax(0.0);
    }
    distances.push_back((updates.row(i) - p.transpose() * corners).norm());
  }
  std::sort(distances.begin(), distances.end());
  return distances[distances.size() / 2];
}

TEST(Inside, AgreesWithDSpace) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const SkewedRound data = make_skewed({.seed = seed});
    const VectorXd mean = data.updates.colwise().mean();
    for (const bool labels : {true, false}) {
      const MatrixXd corners = labels ? class_gradients(data) : data.server;
      const double typical = typical_plainly(data.updates, corners);
      for (const bool against : {false, true}) {
        const std::string spec =
            std::string("inside(corner=2,reach=3,speed=0.25") + (against ? ",aim=against)" : ")");
        const VectorXd to_corner = corners.row(2).transpose() - mean;
        const VectorXd beyond = against ? (-mean.normalized()).eval() : to_corner.normalized();
        for (const auto& [number, way] : {std::pair{1U, 0.25}, std::pair{9U, 1.0}}) {
          const Sent sent = send(spec, data, labels, number);
          ASSERT_EQ(sent.error, "");
          EXPECT_NEAR(sent.measure("typical_distance"), typical, 1e-3 * typical);
          EXPECT_DOUBLE_EQ(sent.measure("way"), way);
          const VectorXd want = mean + way * to_corner + 3 * typical * beyond;
          for (Index j = 0; j < 2; ++j) {
            EXPECT_LT((sent.rows.row(j).transpose() - want).norm(), 4e-3 * typical);
          }
        }
      }
    }
  }
}

TEST(Inside, ChoosesTheCornerThatMovesTheMeanMost) {
  const SkewedRound data = make_skewed({.seed = 4});
  const MatrixXd corners = class_gradients(data);
  const VectorXd mean = data.updates.colwise().mean();
  Index farthest = 0;
  (corners.rowwise() - mean.transpose()).rowwise().squaredNorm().maxCoeff(&farthest);
  Index against = 0;
  (corners * mean).minCoeff(&against);
  EXPECT_EQ(send("inside(corner=-1)", data, true).measure("class"), static_cast<double>(farthest));
  EXPECT_EQ(send("inside(corner=-1,aim=against)", data, true).measure("class"),
            static_cast<double>(against));
}

TEST(Inside, AClassThatNobodyHoldsCountsAsTheMean) {
  SkewedRound data = make_skewed({.seed = 5});
  const Index c = data.true_mix.cols();
  data.true_mix.conservativeResize(Eigen::NoChange, c + 1);
  data.true_mix.col(c).setZero();
  const Sent sent = send("inside(reach=0,corner=" + std::to_string(c) + ")", data, true);
  const VectorXd mean = data.updates.colwise().mean();
  EXPECT_LT((sent.rows.row(0).transpose() - mean).norm(), 1e-9 * mean.norm());
}

TEST(Inside, SaysWhatItNeeds) {
  const SkewedRound data = make_skewed({.seed = 6});
  EXPECT_EQ(send("inside(corner=9)", data, true).error,
            "inside: no class 9; the classes are 0.." + std::to_string(data.true_mix.cols() - 1));
  const AttackRows<double> honest(random_rows<double>(3, 10, 1));
  EXPECT_EQ(forge("inside", honest, 1).error.message,
            "inside needs the server's class gradients, or the label mixes of the honest clients");
}

}  // namespace
}  // namespace boba::testing
