#include "boba/core/prepared_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "boba/core/screen.h"
#include "boba/text/printable.h"

namespace boba {
namespace {

// The Gram pass is repeated about a better origin when rounding would grow by more than this.
constexpr double kWorstCondition = 8;
// Clients farther from the centre than this many times the n - f nearest are refused. Distances to
// such clients are right relative to themselves. Where sums of rows may cancel, products in double
// lose about 2^-53 times the square of the limit, so it is lower.
constexpr double kFarthest = 0x1p26;
constexpr double kFarthestInSums = 0x1p20;
// Where sums of rows may cancel, float32 products serve up to this many times that distance.
constexpr double kFarthestInRowType = 32;
// Columns looked at to choose an origin where the server offers none.
constexpr std::size_t kWindow = 2048;
// Rounding that sharpen() cannot mend: double, with some loss to an origin far away.
constexpr double kSharp = 0x1p-44;
// Of a product summed in double over a whole row, relative to the squared norms: the roundings of
// the sum, at most sqrt(1024) at random for the chunks of any d, and the worst of all pairs.
constexpr double kSumRounding = 0x1p-47;
// Products of sketches of length L are off by 1/sqrt(L) anyway; this share of it more is nothing.
constexpr double kSketchShare = 0x1p-6;
// A squared norm is used if it is this many times what rounding may have left of it.
constexpr double kLostDigits = 0x1p12;
// Squared norms below this count as 0: products of such numbers leave the range of double.
constexpr double kLeastSquare = 0x1p-960;

void flush_tiny(ServerProducts& products) {
  for (std::size_t i = 0; i < products.sq_norm.size(); ++i) {
    if (products.sq_norm[i] >= kLeastSquare) continue;
    products.sq_norm[i] = 0;
    if (!products.dot.empty()) products.dot[i] = 0;
  }
  if (products.server_sq < kLeastSquare) products.server_sq = 0;
}

// The weights of the kept rows alone.
std::vector<double> weights_of(std::span<const double> weights, std::span<const std::size_t> kept) {
  std::vector<double> rest;
  if (weights.empty()) return rest;
  for (std::size_t i : kept) rest.push_back(weights[i]);
  return rest;
}

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

// All usable rows of the pass, as clients.
std::vector<std::size_t> finite_rows(std::span<const RowScan> scan) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < scan.size(); ++i) {
    if (scan[i].finite) rows.push_back(i);
  }
  return rows;
}

// Byzantine clients that may be left after those that were refused.
std::size_t tolerated(int f, const Intake& intake) {
  return Shape{.refused = intake.refused.size()}.tolerated(f);
}

// The row that only served as the origin.
void drop_last_row(GramPass& pass) {
  const std::size_t size = pass.origin_dot.size() - 1;
  for (std::size_t i = 1; i < size; ++i) {
    const double* row = pass.centred.data() + i * (size + 1);
    std::copy(row, row + size, pass.centred.data() + i * size);
  }
  pass.centred.resize(size * size);
  pass.origin_dot.resize(size);
}

Mix compose(const Mix& outer, const Mix& inner) {
  Mix result;
  for (std::size_t i = 0; i < outer.rows(); ++i) {
    std::vector<Mix::Term> terms;
    for (const Mix::Term& o : outer.terms(i)) {
      for (const Mix::Term& t : inner.terms(o.row)) terms.push_back({t.row, o.weight * t.weight});
    }
    result.add(terms);
  }
  return result;
}

Error nothing_left(const Intake& intake) {
  return {ErrorCode::kRefused,
          fmt::format("all {} updates were refused; client {}: {}", intake.refused.size(),
                      intake.refused.front().row, intake.refused.front().reason)};
}

}  // namespace

Intake::Intake(const Round& round) : refused(round.refused.begin(), round.refused.end()) {
  std::vector<bool> gone(round.updates.rows(), false);
  for (const Refusal& refusal : refused) gone[refusal.row] = true;
  for (std::size_t i : repeated_ids(round.ids)) {
    repeated.push_back({i, fmt::format("refused: an earlier update carries the id '{}' too; only "
                                       "a client's first counts",
                                       printable(round.ids[i]))});
    gone[i] = true;
  }
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) kept.push_back(i);
  }
}

std::vector<std::size_t> Intake::refuse(std::span<const Refusal> positions) {
  std::vector<bool> drop(kept.size(), false);
  for (const Refusal& refusal : positions) {
    drop[refusal.row] = true;
    refused.push_back({kept[refusal.row], refusal.reason});
  }
  std::vector<std::size_t> stay;
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (drop[i]) continue;
    stay.push_back(i);
    rest.push_back(kept[i]);
  }
  kept = std::move(rest);
  std::sort(refused.begin(), refused.end(),
            [](const Refusal& a, const Refusal& b) { return a.row < b.row; });
  return stay;
}

Result<PreparedRows> PreparedRows::make(const Kernels& kernels, const Round& round,
                                        const Rule& rule, std::span<const MixStagePtr> mixes,
                                        Intake& intake) {
  PreparedRows rows(kernels, round);
  const Need need = rule.need();
  rows.list_clients(intake);
  if (intake.kept.empty()) return nothing_left(intake);
  if (Result<void> done = rows.compute_products(rule, !mixes.empty(), intake); !done) {
    return done.error();
  }
  rows.shape_ = {.clients = intake.kept.size(),
                 .classes = round.server.rows(),
                 .length = kernels.whole_length(round.updates),
                 .refused = intake.refused.size(),
                 .server = !round.server.empty() || !round.server_whole.empty()};
  if (Result<void> done = rows.apply_mixes(mixes); !done) return done.error();
  if (rows.mix_ && rows.gram_.size() > 0) {
    for (std::size_t i = 0; i < rows.gram_.clients(); ++i) {
      rows.client_squares_.push_back(rows.gram_.raw_size(i));
    }
    rows.gram_ = rows.gram_.mixed(*rows.mix_);
  }
  if (rows.mix_) rows.products_from_gram(need);
  return rows;
}

void PreparedRows::list_clients(const Intake& intake) {
  clients_ = RowList(round_->updates.dtype(), round_->updates.length());
  for (std::size_t i : intake.kept) clients_.add(round_->updates, i);
}

Result<void> PreparedRows::compute_products(const Rule& rule, bool mixing, Intake& intake) {
  const Need need = rule.need();
  if (need == Need::kNothing) return {};
  RowList server(round_->updates.dtype(), round_->updates.length());
  const bool whole = need == Need::kServerProducts && !round_->server_whole.empty();
  if (whole) {
    server.add(round_->server_whole);
  } else if (need == Need::kServerGram || need == Need::kServerProducts) {
    server.add(round_->server);
  }
  // Norms of mixed rows need the products of the rows that were mixed.
  if (need == Need::kGram || need == Need::kServerGram || mixing) {
    const bool known = !round_->products.empty() && !whole && take_known_products(server, intake);
    if (!known) {
      if (Result<void> good = check_server_rows(*kernels_, server.view()); !good) return good;
      if (Result<void> done = compute_gram(server, intake); !done) return done;
    }
    screen_distances(rule, mixing, intake);
    return {};
  }
  const std::vector<double> shares = whole ? std::vector<double>{1.0} : server_shares(*round_);
  DotsPass pass = need == Need::kNorms ? kernels_->dots(clients_.view(), {}, {})
                                       : kernels_->dots(clients_.view(), server.view(), shares);
  // A server row that is not usable shows in the sum of them; only then each is looked at.
  if (!(pass.reference_sq <= largest_norm(round_->updates.dtype()))) {
    if (Result<void> good = check_server_rows(*kernels_, server.view()); !good) return good;
  }
  const std::vector<Refusal> refused = refusals(*kernels_, clients_.view(), pass.scan);
  for (std::size_t r = refused.size(); r-- > 0;) {
    const auto at = static_cast<std::ptrdiff_t>(refused[r].row);
    pass.sq_norm.erase(pass.sq_norm.begin() + at);
    if (!pass.dot.empty()) pass.dot.erase(pass.dot.begin() + at);
  }
  intake.refuse(refused);
  if (intake.kept.empty()) return nothing_left(intake);
  list_clients(intake);
  products_ = {std::move(pass.dot), std::move(pass.sq_norm), pass.reference_sq};
  flush_tiny(products_);
  if (need == Need::kNorms && rule.tolerance()) screen_norms(*rule.tolerance(), intake);
  return {};
}

// The products that came with the round, about the origin 0. They serve unless the updates have far
// more in common than they differ by; then they are left alone.
bool PreparedRows::take_known_products(const RowList& server, const Intake& intake) {
  const std::size_t all = round_->updates.rows() + round_->server.rows();
  std::vector<std::size_t> rows = intake.kept;
  for (std::size_t z = 0; z < server.rows(); ++z) rows.push_back(round_->updates.rows() + z);
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
  gram_server_ = server;
  medoid_ = fit.medoid;
  server_origin_ = server.rows() > 0;
  return true;
}

Result<void> PreparedRows::compute_gram(const RowList& server, Intake& intake) {
  RowList rows(clients_);
  rows.add(server.view());
  std::vector<double> origin = choose_origin(rows, server.rows());
  for (;;) {
    const std::size_t n = clients_.rows();
    GramPass pass = kernels_->gram(rows.view(), origin);
    pass.scan.resize(n);  // the server's rows were checked
    const std::vector<Refusal> refused = refusals(*kernels_, clients_.view(), pass.scan);
    gram_ = Gram(std::move(pass), n, rows.view().dtype());
    if (refused.empty()) break;
    const std::vector<std::size_t> kept = intake.refuse(refused);
    if (intake.kept.empty()) return nothing_left(intake);
    gram_.keep_clients(kept);
    list_clients(intake);
    // Nor may a refused row have had a part in choosing the origin.
    if (server.rows() > 0) break;
    std::vector<double> fresh = choose_origin(clients_, 0);
    if (fresh == weights_of(origin, kept)) break;
    rows = clients_;
    origin = std::move(fresh);
  }
  gram_server_ = server;
  // Whoever chose the origin, it is near the clients, or it is not used.
  const OriginFit fit = origin_fit(gram_);
  if (!(fit.condition <= kWorstCondition)) {
    compute_gram_about_median(server);
    return {};
  }
  medoid_ = fit.medoid;
  server_origin_ = server.rows() > 0;
  return {};
}

// The products in double about the coordinate-wise median. In every coordinate it lies between
// honest values, whatever a minority sends.
void PreparedRows::compute_gram_about_median(const RowList& server) {
  gram_ = Gram();
  const std::size_t n = clients_.rows();
  UpdateMatrix median = kernels_->make_rows(round_->updates.dtype(), 1, round_->updates.length());
  kernels_->order_mean(clients_.view(), nullptr, (n - 1) / 2, n / 2 + 1, median.row(0));
  RowList rows(clients_);
  rows.add(server.view());
  rows.add(median.view());
  GramPass pass =
      kernels_->gram(rows.view(), one_row(rows.rows(), rows.rows() - 1), Precision::kDouble);
  drop_last_row(pass);
  gram_ = Gram(std::move(pass), n, DType::kFloat64);
  const OriginFit fit = origin_fit(gram_);
  medoid_ = fit.medoid;
  server_origin_ = false;
}

// Refuses clients too far from the medoid, and forms the products in double where sums of the rest
// may cancel in float32.
void PreparedRows::screen_distances(const Rule& rule, bool mixing, Intake& intake) {
  const std::size_t n = gram_.clients();
  const std::size_t f = rule.tolerance() ? tolerated(*rule.tolerance(), intake) : (n - 1) / 2;
  std::vector<double> squares(n);
  gram_.sq_distances(medoid_, squares);
  // Mixed rows are sums; so are the directions of a fitted subspace.
  const bool sums = mixing || rule.need() == Need::kServerGram;
  const Screen screened = screen(squares, f, sums ? kFarthestInSums : kFarthest,
                                 "distance from the centre of the clients");
  if (!screened.refused.empty()) {
    gram_.keep_clients(intake.refuse(screened.refused));
    list_clients(intake);
    medoid_ = origin_fit(gram_).medoid;
  }
  if (sums && screened.farthest > kFarthestInRowType) sharpen();
}

void PreparedRows::screen_norms(int f, Intake& intake) {
  const Screen screened = screen(products_.sq_norm, tolerated(f, intake), kFarthest, "norm");
  if (screened.refused.empty()) return;
  std::vector<double> kept;
  for (std::size_t i : intake.refuse(screened.refused)) kept.push_back(products_.sq_norm[i]);
  products_.sq_norm = std::move(kept);
  list_clients(intake);
}

// The mean of the server's rows, or a client in the middle of the others by a window of columns,
// or none where norms are no larger than distances anyway. compute_gram checks the choice.
std::vector<double> PreparedRows::choose_origin(const RowList& rows, std::size_t servers) const {
  if (servers > 0) return mean_of_last(rows.rows(), servers);
  std::vector<double> origin;
  const std::size_t d = kernels_->whole_length(round_->updates);
  if (d < 4 * kWindow) return origin;
  GramPass pass = kernels_->gram_of_columns(rows.view(), (d - kWindow) / 2, kWindow);
  const std::vector<std::size_t> usable = finite_rows(pass.scan);
  if (usable.empty()) return origin;
  Gram part(std::move(pass), rows.rows(), rows.view().dtype());
  part.keep_clients(usable);
  const OriginFit fit = origin_fit(part);
  if (fit.condition <= 2) return origin;
  const std::size_t medoid = usable[fit.medoid];
  RowList one(clients_.view().dtype(), clients_.view().length());
  one.add(clients_.view(), medoid);
  const DotsPass norms = kernels_->dots(one.view(), {}, {});
  if (!refusals(*kernels_, one.view(), norms.scan).empty()) return origin;
  return one_row(rows.rows(), medoid);
}

bool PreparedRows::sharpen() {
  if (gram_.rounding() <= kSharp || gram_.sketch() != 0) return false;
  RowList rows(clients_);
  rows.add(gram_server_.view());
  const std::vector<double> origin = server_origin_ ? mean_of_last(rows.rows(), gram_server_.rows())
                                                    : one_row(rows.rows(), medoid_);
  gram_ = Gram();
  gram_ = Gram(kernels_->gram(rows.view(), origin, Precision::kDouble), clients_.rows(),
               DType::kFloat64);
  if (mix_) gram_ = gram_.mixed(*mix_);
  return true;
}

Result<void> PreparedRows::apply_mixes(std::span<const MixStagePtr> mixes) {
  if (mixes.empty()) return {};
  left_out_.assign(shape_.clients, "");
  std::uint64_t seed = 0;
  if (round_->seed) {
    seed = *round_->seed;
  } else {
    const Result<std::uint64_t> drawn = kernels_->secret_seed();
    if (!drawn) return drawn.error();
    seed = *drawn;
    drawn_seed_ = seed;
  }
  for (const MixStagePtr& stage : mixes) {
    if (Result<void> good = stage->admits(shape_); !good) return good;
    Mix mix = stage->mix(shape_, seed, round_->number);
    mix_ = mix_ ? compose(mix, *mix_) : std::move(mix);
    std::vector<bool> used(left_out_.size(), false);
    for (std::size_t i = 0; i < mix_->rows(); ++i) {
      for (const Mix::Term& term : mix_->terms(i)) used[term.row] = true;
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (!used[i] && left_out_[i].empty()) left_out_[i] = stage->left_out(shape_);
    }
    shape_.clients = mix_->rows();
  }
  return {};
}

// After mixing, norms and server products come from the mixed Gram matrix.
void PreparedRows::products_from_gram(Need need) {
  if (need != Need::kNorms && need != Need::kServerProducts) return;
  const std::size_t n = gram_.clients();
  products_.sq_norm.resize(n);
  for (std::size_t i = 0; i < n; ++i) products_.sq_norm[i] = gram_.sq_norm(i);
  if (need == Need::kNorms) {
    measure_short_rows({});
    return flush_tiny(products_);
  }
  const std::size_t c = gram_.servers();
  const std::vector<double> shares =
      round_->server_whole.empty() ? server_shares(*round_) : std::vector<double>{1.0};
  products_.dot.assign(n, 0.0);
  for (std::size_t z = 0; z < c; ++z) {
    for (std::size_t i = 0; i < n; ++i) products_.dot[i] += shares[z] * gram_.dot(i, n + z);
    for (std::size_t y = 0; y < c; ++y) {
      products_.server_sq += shares[z] * shares[y] * gram_.dot(n + z, n + y);
    }
  }
  products_.server_sq = std::max(0.0, products_.server_sq);
  measure_short_rows(shares);
  flush_tiny(products_);
}

// Mixed rows that are much shorter than those they are made of have lost their digits in the
// products. They are formed, one by one, and measured themselves.
void PreparedRows::measure_short_rows(std::span<const double> shares) {
  UpdateMatrix row;
  for (std::size_t i = 0; i < products_.sq_norm.size(); ++i) {
    double size = 0;
    for (const Mix::Term& term : mix_->terms(i)) size = std::max(size, client_squares_[term.row]);
    if (products_.sq_norm[i] > kLostDigits * gram_.rounding() * size) continue;
    if (row.rows() == 0) {
      row = kernels_->make_rows(round_->updates.dtype(), 1, round_->updates.length());
    }
    std::vector<double> weights(shape_.clients, 0.0);
    weights[i] = 1;
    kernels_->combine(clients_.view(), client_weights(weights), 0, row.row(0));
    const DotsPass pass = kernels_->dots(row.view(), gram_server_.view(), shares);
    products_.sq_norm[i] = pass.sq_norm[0];
    if (!products_.dot.empty()) products_.dot[i] = pass.dot[0];
  }
}

std::vector<double> PreparedRows::client_weights(std::span<const double> row_weights) const {
  if (!mix_) return {row_weights.begin(), row_weights.end()};
  std::vector<double> weights(clients_.rows(), 0.0);
  for (std::size_t i = 0; i < mix_->rows(); ++i) {
    for (const Mix::Term& term : mix_->terms(i)) weights[term.row] += row_weights[i] * term.weight;
  }
  return weights;
}

std::vector<double> PreparedRows::mixed_products(std::span<const double> client_products) const {
  if (!mix_) return {client_products.begin(), client_products.end()};
  std::vector<double> products(mix_->rows(), 0.0);
  for (std::size_t i = 0; i < mix_->rows(); ++i) {
    for (const Mix::Term& term : mix_->terms(i)) {
      products[i] += term.weight * client_products[term.row];
    }
  }
  return products;
}

Result<void> PreparedRows::hold(std::span<const double> weights) {
  if (held_.rows() == 0) {
    held_ = kernels_->make_rows(round_->updates.dtype(), 1, round_->updates.length());
  }
  const OutputPass pass =
      kernels_->combine(clients_.view(), client_weights(weights), 0, held_.row(0));
  if (!pass.finite) return invalid_argument("the sum of the updates overflows their type");
  return {};
}

Result<void> PreparedRows::check_probing() const {
  if (round_->oracle == nullptr || round_->model.empty()) {
    return invalid_argument(
        "this rule asks for the server's loss: the round needs an oracle and the model w");
  }
  const double eta = round_->learning_rate;
  if (!(eta > 0) || !std::isfinite(eta)) {
    return invalid_argument(fmt::format(
        "this rule probes w - eta * update: learning_rate is {}; it must be positive", eta));
  }
  return {};
}

void PreparedRows::make_points(std::size_t rows) {
  if (points_.rows() >= rows) return;
  points_ = kernels_->make_rows(round_->model.dtype(), rows, round_->model.length());
}

// Row i of points_ becomes w - eta * (held * h + sum of factor * row).
void PreparedRows::set_point(std::size_t i, double held, std::span<const Term> terms) {
  const double eta = round_->learning_rate;
  RowList rows(round_->model);
  std::vector<double> weights = {1.0};
  if (held != 0) {
    rows.add(held_.view());
    weights.push_back(-eta * held);
  }
  std::vector<double> row_weights(shape_.clients, 0.0);
  for (const Term& term : terms) row_weights[term.row] += term.factor;
  const std::vector<double> factors = client_weights(row_weights);
  for (std::size_t k = 0; k < factors.size(); ++k) {
    if (factors[k] == 0) continue;
    rows.add(clients_.view(), k);
    weights.push_back(-eta * factors[k]);
  }
  // A point that overflows is asked about all the same: its loss is the rule's answer to it.
  kernels_->combine(rows.view(), weights, 0, points_.row(i));
}

Result<std::vector<double>> PreparedRows::losses(double held,
                                                 std::span<const std::vector<Term>> steps) {
  if (const Result<void> able = check_probing(); !able) return able.error();
  std::vector<double> losses(steps.size());
  const std::size_t at_once =
      std::min(std::max<std::size_t>(1, round_->oracle->at_once()), steps.size());
  make_points(at_once);
  for (std::size_t first = 0; first < steps.size(); first += at_once) {
    const std::size_t count = std::min(at_once, steps.size() - first);
    RowList points(points_.dtype(), points_.length());
    for (std::size_t i = 0; i < count; ++i) {
      set_point(i, held, steps[first + i]);
      points.add(points_.view(), i);
    }
    const std::span<double> out = std::span(losses).subspan(first, count);
    if (Result<void> asked = round_->oracle->losses(points.view(), out); !asked) {
      return asked.error();
    }
  }
  for (double& loss : losses) {
    if (std::isnan(loss)) loss = std::numeric_limits<double>::infinity();
  }
  return losses;
}

Result<ServerProducts> PreparedRows::gradient_dots(std::span<const Term> terms) {
  if (const Result<void> able = check_probing(); !able) return able.error();
  make_points(1);
  set_point(0, 0, terms);
  RowList at(points_.dtype(), points_.length());
  at.add(points_.view(), 0);
  if (held_.rows() == 0) held_ = kernels_->make_rows(points_.dtype(), 1, points_.length());
  if (Result<void> asked = round_->oracle->gradient(at.view(), held_.row(0)); !asked) {
    return asked.error();
  }
  const std::vector<double> one = {1.0};
  DotsPass pass = kernels_->dots(clients_.view(), held_.view(), one);
  if (!std::isfinite(pass.reference_sq)) {
    return invalid_argument("the server's gradient contains NaN or infinity");
  }
  const double sq = pass.reference_sq < kLeastSquare ? 0 : pass.reference_sq;
  return ServerProducts{mixed_products(pass.dot), {}, sq};
}

Result<void> check_server_rows(const Kernels& kernels, const UpdateView& rows) {
  if (rows.empty()) return {};
  const DotsPass pass = kernels.dots(rows, {}, {});
  const std::vector<Refusal> bad = refusals(kernels, rows, pass.scan);
  if (bad.empty()) return {};
  return invalid_argument(
      fmt::format("server gradient {} is {}", bad.front().row, bad.front().reason));
}

}  // namespace boba
