#include "tests/support/label_skew.h"

#include <cmath>

#include "boba/core/random.h"

namespace boba::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;

// A random direction of about unit length.
RowVectorXd direction(std::uint64_t seed, std::uint32_t which, Index length) {
  const StreamKey key{.seed = seed, .round = 0, .client = which, .purpose = Purpose::kSynthetic};
  RowVectorXd v(length);
  for (Index j = 0; j < length; ++j) v(j) = normal_at(key, static_cast<std::uint64_t>(j));
  return v / std::sqrt(static_cast<double>(length));
}

MatrixXd forged(const MatrixXd& honest, const SkewOptions& o, Forgery forgery) {
  MatrixXd rows(o.byzantine, honest.cols());
  const RowVectorXd mean = honest.colwise().mean();
  const RowVectorXd deviation =
      ((honest.rowwise() - mean).colwise().squaredNorm() / static_cast<double>(honest.rows() - 1))
          .cwiseSqrt();
  for (Index b = 0; b < rows.rows(); ++b) {
    switch (forgery) {
      case Forgery::kNone:
      case Forgery::kIpm:
        rows.row(b) = -10 * mean;
        break;
      case Forgery::kGauss:
        rows.row(b) =
            30 * o.scale * direction(o.seed, 7000 + static_cast<std::uint32_t>(b), honest.cols());
        break;
      case Forgery::kLie:
        rows.row(b) = mean - 0.7 * deviation;
        break;
      case Forgery::kMimic:
        rows.row(b) = honest.row(5);
        break;
      case Forgery::kHuge:
        rows.row(b) = 5e5 * o.scale * direction(o.seed, 8000, honest.cols());
        break;
    }
  }
  return rows;
}

}  // namespace

SkewedRound make_skewed(const SkewOptions& o, Forgery forgery) {
  MatrixXd corners(o.classes, o.length);
  const RowVectorXd common = o.common * direction(o.seed, 0, o.length);
  for (int z = 0; z < o.classes; ++z) {
    const RowVectorXd own = direction(o.seed, 1 + static_cast<std::uint32_t>(z), o.length);
    corners.row(z) = common + o.separation * own;
    if (z == 1 && o.close_pair > 0) corners.row(1) = corners.row(0) + o.close_pair * own;
  }
  SkewedRound round;
  round.true_mix = MatrixXd::Zero(o.honest, o.classes);
  MatrixXd honest(o.honest, o.length);
  for (int i = 0; i < o.honest; ++i) {
    const StreamKey key{.seed = o.seed,
                        .round = 1,
                        .client = static_cast<std::uint32_t>(i),
                        .purpose = Purpose::kSynthetic};
    const double share = 0.2 + 0.6 * uniform_at(key, 0);
    round.true_mix(i, i % o.classes) += share;
    round.true_mix(i, (i / o.classes + i) % o.classes) += 1 - share;
    honest.row(i) = round.true_mix.row(i) * corners +
                    o.noise * direction(o.seed, 1000 + static_cast<std::uint32_t>(i), o.length);
  }
  round.server.resize(o.classes, o.length);
  for (int z = 0; z < o.classes; ++z) {
    round.server.row(z) =
        corners.row(z) +
        o.server_noise * direction(o.seed, 500 + static_cast<std::uint32_t>(z), o.length);
  }
  honest *= o.scale;
  round.server *= o.scale;
  round.updates.resize(o.honest + o.byzantine, o.length);
  round.updates << honest, forged(honest, o, forgery);
  return round;
}

UpdateMatrix to_updates(const MatrixXd& rows, DType dtype) {
  UpdateMatrix updates(dtype, static_cast<std::size_t>(rows.rows()),
                       static_cast<std::size_t>(rows.cols()));
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (Index i = 0; i < rows.rows(); ++i) {
      std::span<T> out = updates.row_as<T>(static_cast<std::size_t>(i));
      for (Index j = 0; j < rows.cols(); ++j)
        out[static_cast<std::size_t>(j)] = static_cast<T>(rows(i, j));
    }
  });
  return updates;
}

MatrixXd to_matrix(const UpdateView& rows) {
  MatrixXd matrix(static_cast<Index>(rows.rows()), static_cast<Index>(rows.length()));
  visit(rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (Index i = 0; i < matrix.rows(); ++i) {
      const T* row = rows.row<T>(static_cast<std::size_t>(i));
      for (Index j = 0; j < matrix.cols(); ++j) matrix(i, j) = static_cast<double>(row[j]);
    }
  });
  return matrix;
}

}  // namespace boba::test
