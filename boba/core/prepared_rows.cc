#include "boba/core/prepared_rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "boba/core/refusal.h"
#include "boba/core/screen.h"

namespace boba {
namespace {

// A squared norm is used if it is this many times what rounding may have left of it.
constexpr double kLostDigits = 0x1p12;

bool needs_gram(Need need) { return need == Need::kGram || need == Need::kServerGram; }

// The weights of the server's rows in its gradient on all its data.
std::vector<double> gradient_shares(const Round& round) {
  return round.server_whole.empty() ? server_shares(round) : std::vector<double>{1.0};
}

// Refuses clients whose norm is too far from the others'.
void screen_norms(int f, std::vector<double>& sq_norms, std::vector<RowScan>& scan,
                  Intake& intake) {
  const Screen screened = screen(sq_norms, intake.tolerated(f), kFarthest, "norm");
  if (screened.refused.empty()) return;
  std::vector<double> kept;
  std::vector<RowScan> kept_scan;
  for (std::size_t i : intake.refuse(screened.refused)) {
    kept.push_back(sq_norms[i]);
    kept_scan.push_back(scan[i]);
  }
  sq_norms = std::move(kept);
  scan = std::move(kept_scan);
}

}  // namespace

Result<PreparedRows> PreparedRows::make(const Kernels& kernels, const Round& round,
                                        const Rule& rule, std::span<const MixStagePtr> mixes,
                                        Intake& intake) {
  PreparedRows rows(kernels, round);
  if (intake.kept.empty()) return intake.nothing_left();
  if (Result<void> done = rows.compute_products(rule, !mixes.empty(), intake); !done) {
    return done.error();
  }
  rows.clients_.updates = intake.rows(round);
  if (rows.gram().size() > 0) rows.near_copies_ = near_copies(rows.gram());
  rows.shape_ = {.clients = intake.kept.size(),
                 .classes = round.server.rows(),
                 .length = kernels.whole_length(round.updates),
                 .refused = intake.refused.size(),
                 .server = !round.server.empty() || !round.server_whole.empty()};
  if (Result<void> done = rows.clients_.apply(mixes, kernels, round, rows.shape_); !done) {
    return done.error();
  }
  if (rows.mix() != nullptr && rows.gram().size() > 0) rows.mix_products(rule.need());
  return rows;
}

Copies PreparedRows::copies(std::span<const RowScan> scan) const {
  if (near_copies_) return *near_copies_;
  return equal_copies(*kernels_, clients(), scan_.empty() ? scan : scan_);
}

bool PreparedRows::sharpen() {
  if (!gram_.sharpen(mix())) return false;
  // Products of mixed rows show no copies.
  if (mix() == nullptr) near_copies_ = near_copies(gram());
  return true;
}

void PreparedRows::recall(const Memory& memory, const Intake& intake) {
  past_.emplace();
  for (std::size_t i : intake.kept) {
    const Memory::Client* client = memory.find(round_->id(i));
    past_->rows.push_back(client == nullptr ? Past::Client{}
                                            : Past::Client{client->seen, client->state});
  }
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
  // Norms of mixed rows need the products of the rows that are mixed.
  if (!needs_gram(need) && !mixing) return compute_dots(rule, server, intake);
  gram_ = ClientGram(*kernels_, *round_, std::move(server));
  // The products that came with the round are those with the class gradients.
  if (Result<void> done = gram_.form(!whole, intake); !done) return done;
  // Mixed rows are sums; so are the directions of a fitted subspace.
  gram_.screen(rule.tolerance(), mixing || need == Need::kServerGram, intake);
  return {};
}

Result<void> PreparedRows::compute_dots(const Rule& rule, const RowList& server, Intake& intake) {
  const RowList clients = intake.rows(*round_);
  DotsPass pass = rule.need() == Need::kNorms
                      ? kernels_->dots(clients.view(), {}, {})
                      : kernels_->dots(clients.view(), server.view(), gradient_shares(*round_));
  // An unusable server row shows in the sum of them; only then each is looked at.
  if (!(pass.reference_sq <= largest_norm(round_->updates.dtype()))) {
    if (Result<void> good = check_server_rows(*kernels_, server.view()); !good) return good;
  }
  const std::vector<Refusal> refused = refusals(*kernels_, clients.view(), pass.scan);
  for (std::size_t r = refused.size(); r-- > 0;) {
    const auto at = static_cast<std::ptrdiff_t>(refused[r].row);
    pass.scan.erase(pass.scan.begin() + at);
    pass.sq_norm.erase(pass.sq_norm.begin() + at);
    if (!pass.dot.empty()) pass.dot.erase(pass.dot.begin() + at);
  }
  intake.refuse(refused);
  if (intake.kept.empty()) return intake.nothing_left();
  scan_ = std::move(pass.scan);
  products_ = {std::move(pass.dot), std::move(pass.sq_norm), pass.reference_sq};
  drop_tiny(products_);
  if (rule.need() == Need::kNorms && rule.tolerance()) {
    screen_norms(*rule.tolerance(), products_.sq_norm, scan_, intake);
  }
  return {};
}

// The products of the mixed rows. Norms and products with the server's gradient come from them too.
void PreparedRows::mix_products(Need need) {
  std::vector<double> client_squares;
  for (std::size_t i = 0; i < gram().clients(); ++i) client_squares.push_back(gram().raw_size(i));
  gram_.mix(*mix());
  if (needs_gram(need)) return;
  const Gram& gram = gram_.gram();
  const std::size_t n = gram.clients();
  for (std::size_t i = 0; i < n; ++i) products_.sq_norm.push_back(gram.sq_norm(i));
  std::vector<double> shares;
  if (need == Need::kServerProducts) {
    shares = gradient_shares(*round_);
    const std::size_t c = gram.servers();
    products_.dot.assign(n, 0.0);
    for (std::size_t z = 0; z < c; ++z) {
      for (std::size_t i = 0; i < n; ++i) products_.dot[i] += shares[z] * gram.dot(i, n + z);
      for (std::size_t y = 0; y < c; ++y) {
        products_.server_sq += shares[z] * shares[y] * gram.dot(n + z, n + y);
      }
    }
    products_.server_sq = std::max(0.0, products_.server_sq);
  }
  measure_short_rows(client_squares, shares);
  drop_tiny(products_);
}

// Mixed rows that are much shorter than those they are made of have lost their digits in the
// products. They are formed, one by one, and measured themselves. client_squares: the sizes of the
// numbers behind the products before mixing.
void PreparedRows::measure_short_rows(std::span<const double> client_squares,
                                      std::span<const double> shares) {
  UpdateMatrix row;
  for (std::size_t i = 0; i < products_.sq_norm.size(); ++i) {
    double size = 0;
    for (const Mix::Term& term : mix()->terms(i)) size = std::max(size, client_squares[term.row]);
    if (products_.sq_norm[i] > kLostDigits * gram().rounding() * size) continue;
    if (row.rows() == 0) {
      row = kernels_->make_rows(round_->updates.dtype(), 1, round_->updates.length());
    }
    std::vector<double> weights(shape_.clients, 0.0);
    weights[i] = 1;
    kernels_->combine(clients(), client_weights(weights), 0, row.row(0));
    const DotsPass pass = kernels_->dots(row.view(), gram_.server(), shares);
    products_.sq_norm[i] = pass.sq_norm[0];
    if (!products_.dot.empty()) products_.dot[i] = pass.dot[0];
  }
}

}  // namespace boba
