#include "boba/core/client_gram.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "boba/core/refusal.h"
#include "boba/core/screen.h"

namespace boba {
namespace {

// The products are formed again about a better origin when rounding would grow by more than this.
constexpr double kWorstCondition = 8;
// The limit where sums of rows may cancel: products in double lose about 2^-53 times its square.
constexpr double kFarthestInSums = 0x1p20;
// Where sums of rows may cancel, float32 products serve up to this many times that distance.
constexpr double kFarthestInRowType = 32;
// Columns looked at to choose an origin where the server offers none.
constexpr std::size_t kWindow = 2048;
// Rounding that sharpen() cannot mend: double, with some loss to an origin far away.
constexpr double kSharp = 0x1p-44;
// Rounding of a product summed in double over a whole row, relative to the squared norms: the
// roundings of the sum, at most sqrt(1024) at random for the chunks of any d, and the worst of all
// pairs.
constexpr double kSumRounding = 0x1p-47;
// Products of sketches of length L are off by 1/sqrt(L) anyway; this share of it more is nothing.
constexpr double kSketchShare = 0x1p-6;

std::vector<double> one_row(std::size_t rows, std::size_t chosen) {
  std::vector<double> weights(rows, 0.0);
  weights[chosen] = 1;
  return weights;
}

std::vector<double> mean_of_last(std::size_t rows, std::size_t count) {
  std::vector<double> weights(rows, 0.0);
  std::fill(weights.end() - static_cast<std::ptrdiff_t>(count), weights.end(),
            1.0 / static_cast<double>(count));
  return weights;
}

// The weights of the kept rows alone.
std::vector<double> weights_of(std::span<const double> weights, std::span<const std::size_t> kept) {
  std::vector<double> rest;
  if (weights.empty()) return rest;
  for (std::size_t i : kept) rest.push_back(weights[i]);
  return rest;
}

std::vector<std::size_t> finite_rows(std::span<const RowScan> scan) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < scan.size(); ++i) {
    if (scan[i].finite) rows.push_back(i);
  }
  return rows;
}

// The last row only served as the origin.
void drop_last_row(GramPass& pass) {
  const std::size_t size = pass.origin_dot.size() - 1;
  for (std::size_t i = 1; i < size; ++i) {
    const double* row = pass.centred.data() + i * (size + 1);
    std::copy(row, row + size, pass.centred.data() + i * size);
  }
  pass.centred.resize(size * size);
  pass.origin_dot.resize(size);
}

}  // namespace

Result<void> ClientGram::form(bool use_known, Intake& intake) {
  clients_ = intake.rows(*round_);
  if (use_known && !round_->products.empty() && take_known(intake)) return {};
  if (Result<void> good = check_server_rows(*kernels_, server_.view()); !good) return good;
  return compute(intake);
}

// The products that came with the round are about the origin 0. They serve unless the updates have
// far more in common than they differ by.
bool ClientGram::take_known(const Intake& intake) {
  const std::size_t all = round_->updates.rows() + round_->server.rows();
  std::vector<std::size_t> rows = intake.kept;
  for (std::size_t z = 0; z < server_.rows(); ++z) rows.push_back(round_->updates.rows() + z);
  GramPass pass;
  pass.origin_dot.assign(rows.size(), 0.0);
  pass.sketch = round_->products_sketch;
  pass.centred.reserve(rows.size() * rows.size());
  for (std::size_t i : rows) {
    for (std::size_t j : rows) pass.centred.push_back(round_->products[i * all + j]);
  }
  Gram gram(std::move(pass), intake.kept.size(), kSumRounding);
  const OriginFit fit = origin_fit(gram);
  const double own = round_->updates.dtype() == DType::kFloat32 ? 0x1p-24 : 0x1p-53;
  const double rounding = kSumRounding * std::max(1.0, fit.condition);
  const double most = gram.sketch() == 0
                          ? kWorstCondition * std::max(own, kSumRounding)
                          : kSketchShare / std::sqrt(static_cast<double>(gram.sketch()));
  if (!(rounding <= most)) return false;
  // Where the origin 0 is far away, the rounding is relative to distances from a client nearby.
  if (fit.condition > kWorstCondition) gram.move_origin(fit.medoid);
  gram.set_rounding(rounding);
  gram_ = std::move(gram);
  medoid_ = fit.medoid;
  server_origin_ = server_.rows() > 0;
  return true;
}

Result<void> ClientGram::compute(Intake& intake) {
  RowList rows(clients_);
  rows.add(server_.view());
  std::vector<double> origin = choose_origin(rows);
  for (;;) {
    const std::size_t n = clients_.rows();
    GramPass pass = kernels_->gram(rows.view(), origin);
    pass.scan.resize(n);  // the server's rows were checked
    const std::vector<Refusal> refused = refusals(*kernels_, clients_.view(), pass.scan);
    gram_ = Gram(std::move(pass), n, rows.view().dtype());
    if (refused.empty()) break;
    const std::vector<std::size_t> kept = intake.refuse(refused);
    if (intake.kept.empty()) return intake.nothing_left();
    gram_.keep_clients(kept);
    clients_ = intake.rows(*round_);
    // A refused row must not influence the choice of the origin either.
    if (server_.rows() > 0) break;
    std::vector<double> fresh = choose_origin(clients_);
    if (fresh == weights_of(origin, kept)) break;
    rows = clients_;
    origin = std::move(fresh);
  }
  // Whoever chose the origin, it is near the clients, or it is not used.
  const OriginFit fit = origin_fit(gram_);
  if (!(fit.condition <= kWorstCondition)) {
    compute_about_median();
    return {};
  }
  medoid_ = fit.medoid;
  server_origin_ = server_.rows() > 0;
  return {};
}

// The products in double about the coordinate-wise median. In every coordinate it lies between
// honest values, whatever a minority sends.
void ClientGram::compute_about_median() {
  gram_ = Gram();
  const std::size_t n = clients_.rows();
  UpdateMatrix median = kernels_->make_rows(round_->updates.dtype(), 1, round_->updates.length());
  kernels_->order_mean(clients_.view(), nullptr, (n - 1) / 2, n / 2 + 1, median.row(0));
  RowList rows(clients_);
  rows.add(server_.view());
  rows.add(median.view());
  GramPass pass =
      kernels_->gram(rows.view(), one_row(rows.rows(), rows.rows() - 1), Precision::kDouble);
  drop_last_row(pass);
  gram_ = Gram(std::move(pass), n, DType::kFloat64);
  medoid_ = origin_fit(gram_).medoid;
  server_origin_ = false;
}

// The mean of the server's rows; or a client in the middle of the others, as a window of columns
// shows; or none where norms are no larger than distances. compute() checks the choice.
std::vector<double> ClientGram::choose_origin(const RowList& rows) const {
  if (server_.rows() > 0) return mean_of_last(rows.rows(), server_.rows());
  std::vector<double> origin;
  const std::size_t d = kernels_->whole_length(round_->updates);
  if (d < 4 * kWindow) return origin;
  GramPass pass = kernels_->gram_of_columns(rows.view(), (d - kWindow) / 2, kWindow);
  const std::vector<std::size_t> usable = finite_rows(pass.scan);
  if (usable.empty()) return origin;
  Gram window(std::move(pass), rows.rows(), rows.view().dtype());
  window.keep_clients(usable);
  const OriginFit fit = origin_fit(window);
  if (fit.condition <= 2) return origin;
  const std::size_t medoid = usable[fit.medoid];
  RowList one(clients_.view().dtype(), clients_.view().length());
  one.add(clients_.view(), medoid);
  const DotsPass norms = kernels_->dots(one.view(), {}, {});
  if (!refusals(*kernels_, one.view(), norms.scan).empty()) return origin;
  return one_row(rows.rows(), medoid);
}

void ClientGram::screen(std::optional<int> tolerance, bool sums, Intake& intake) {
  const std::size_t n = gram_.clients();
  const std::size_t f = tolerance ? intake.tolerated(*tolerance) : (n - 1) / 2;
  std::vector<double> squares(n);
  gram_.sq_distances(medoid_, squares);
  const Screen screened = boba::screen(squares, f, sums ? kFarthestInSums : kFarthest,
                                       "distance from the centre of the clients");
  if (!screened.refused.empty()) {
    gram_.keep_clients(intake.refuse(screened.refused));
    clients_ = intake.rows(*round_);
    medoid_ = origin_fit(gram_).medoid;
  }
  if (sums && screened.farthest > kFarthestInRowType) sharpen(nullptr);
}

bool ClientGram::sharpen(const Mix* mix) {
  if (gram_.rounding() <= kSharp || gram_.sketch() != 0) return false;
  RowList rows(clients_);
  rows.add(server_.view());
  const std::vector<double> origin =
      server_origin_ ? mean_of_last(rows.rows(), server_.rows()) : one_row(rows.rows(), medoid_);
  gram_ = Gram();
  gram_ = Gram(kernels_->gram(rows.view(), origin, Precision::kDouble), clients_.rows(),
               DType::kFloat64);
  if (mix != nullptr) gram_ = gram_.mixed(*mix);
  return true;
}

}  // namespace boba
