#include "boba/attacks/simplex.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "boba/attacks/parts.h"

namespace boba {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Squared distances below this part of the first are rounding, not another corner.
constexpr double kNoCorner = 1e-10;
// Values that agree to this are a tie, which goes to the lower index.
constexpr double kTie = 1e-9;

// The first place of the largest value, up to rounding.
std::size_t largest(const VectorXd& values) {
  const double most = values.maxCoeff();
  Index i = 0;
  while (values(i) < most - kTie * std::abs(most)) ++i;
  return static_cast<std::size_t>(i);
}

// Successive projection: the row furthest from the origin of the products, then again and again the
// row furthest from the affine hull of those found. Fewer where the rows span less.
std::vector<std::size_t> find_corners(MatrixXd k, std::size_t count) {
  std::vector<std::size_t> corners = {largest(k.diagonal())};
  const auto first = static_cast<Index>(corners[0]);
  const VectorXd to_first = k.col(first);
  const double own = k(first, first);
  k.colwise() -= to_first;
  k.rowwise() -= to_first.transpose();
  k.array() += own;
  const double scale = k.diagonal().maxCoeff();
  while (corners.size() < count) {
    const std::size_t next = largest(k.diagonal());
    const auto i = static_cast<Index>(next);
    if (!(k(i, i) > kNoCorner * scale)) break;
    corners.push_back(next);
    const VectorXd column = k.col(i);
    k -= column * column.transpose() / k(i, i);
  }
  return corners;
}

class Simplex final : public Attack {
 public:
  explicit Simplex(const SimplexOptions& options) : options_(options) {}

  Result<AttackReport> forge(const Kernels& kernels, const AttackRound& round,
                             std::span<const MutableRow> out) const override {
    if (out.empty()) return AttackReport{};
    if (Result<void> some = needs_honest("simplex", round.honest); !some) return some.error();
    const std::size_t h = round.honest.rows();
    RowList rows(round.honest);
    if (looks_at_server()) {
      if (round.server.empty()) {
        return invalid_argument(
            "simplex needs the server's class gradients, or classes=c to look for c corners among "
            "the honest updates");
      }
      rows.add(round.server);
    }
    if (Result<void> good = check_finite(kernels, rows.view(), h); !good) return good.error();

    std::vector<double> mean(rows.rows());
    std::fill_n(mean.begin(), h, 1.0 / static_cast<double>(h));
    const GramPass pass = kernels.gram(rows.view(), mean);
    const auto size = static_cast<Index>(rows.rows());
    const MatrixXd k = Eigen::Map<const MatrixXd>(pass.centred.data(), size, size);
    if (!k.allFinite()) {
      return invalid_argument("simplex: products of the updates leave the range of double");
    }
    const std::vector<std::size_t> corners =
        looks_at_server() ? server_rows(h, rows.rows())
                          : find_corners(k, static_cast<std::size_t>(options_.classes));
    return send(kernels, rows.view(), k, pass.origin_dot, corners, out);
  }

  bool looks_at_server() const override { return options_.classes == 0; }

 private:
  static Result<void> check_finite(const Kernels& kernels, const UpdateView& rows, std::size_t h) {
    const std::vector<RowScan> scan = kernels.dots(rows, UpdateView(), {}).scan;
    const std::span<const RowScan> all(scan);
    if (Result<void> good = needs_finite("simplex", all.first(h)); !good) return good;
    for (std::size_t z = h; z < all.size(); ++z) {
      if (all[z].finite) continue;
      return invalid_argument(
          fmt::format("simplex needs finite server gradients; row {} has NaN or infinity", z - h));
    }
    return {};
  }

  static std::vector<std::size_t> server_rows(std::size_t first, std::size_t last) {
    std::vector<std::size_t> rows;
    for (std::size_t z = first; z < last; ++z) rows.push_back(z);
    return rows;
  }

  // k: products about the honest mean m; dot: <m, a_i - m>.
  Result<AttackReport> send(const Kernels& kernels, const UpdateView& rows, const MatrixXd& k,
                            const std::vector<double>& dot, const std::vector<std::size_t>& corners,
                            std::span<const MutableRow> out) const {
    const auto c = static_cast<Index>(corners.size());
    const double others = options_.p_min + options_.margin;
    const double own = 1 - static_cast<double>(c - 1) * others;
    MatrixXd mixes = MatrixXd::Zero(k.rows(), c);  // column v: class v has its own share
    for (Index v = 0; v < c; ++v) {
      for (Index z = 0; z < c; ++z) {
        mixes(static_cast<Index>(corners[static_cast<std::size_t>(z)]), v) = z == v ? own : others;
      }
    }
    const VectorXd away = (mixes.transpose() * k * mixes).diagonal();
    const Eigen::Map<const VectorXd> along(dot.data(), k.rows());
    const bool furthest = options_.aim == SimplexOptions::Aim::kFurthest;
    const std::size_t best = largest(furthest ? away : -(mixes.transpose() * along).eval());
    const VectorXd weights = mixes.col(static_cast<Index>(best));
    const OutputPass pass = kernels.combine(
        rows, {weights.data(), static_cast<std::size_t>(weights.size())}, 0, out[0]);
    send_first_to_all(kernels, out);
    return report({{"class", static_cast<double>(best)},
                   {"corners", static_cast<double>(c)},
                   {"share", own},
                   {"distance", std::sqrt(std::max(0.0, away(static_cast<Index>(best))))}},
                  pass);
  }

  SimplexOptions options_;
};

}  // namespace

Result<NamedAttack> make_simplex(const SimplexOptions& options) {
  return make_named<NamedAttack, Simplex>(options);
}

}  // namespace boba
