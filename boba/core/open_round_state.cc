#include "boba/core/open_round_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "boba/core/prepared_rows.h"
#include "boba/core/refusal.h"
#include "boba/core/size.h"
#include "boba/text/printable.h"

namespace boba {
namespace {

constexpr double kOne[] = {1.0};

Error refusal(std::string_view client, std::string_view reason) {
  return {ErrorCode::kRefused,
          fmt::format("open round: client '{}': {}", printable(client), reason)};
}

void add_sketch(std::span<const double> sketch, RowList& list) {
  const double* const row = sketch.data();
  list.add(UpdateView(std::span<const double* const>(&row, 1), sketch.size()));
}

}  // namespace

OpenRoundState::OpenRoundState(const Kernels& kernels, const Aggregator& rule,
                               OpenRoundOptions options)
    : kernels_(kernels), rule_(rule), options_(std::move(options)) {
  for (std::size_t i = 0; i < options_.cohort.size(); ++i) {
    clients_[options_.cohort[i]].position = i;
  }
  // Sketches as long as the updates would save nothing.
  if (options_.sketch && options_.length <= options_.sketch->length) options_.sketch.reset();
}

std::size_t OpenRoundState::most() const {
  return options_.cohort.empty() ? options_.most : options_.cohort.size();
}

std::size_t OpenRoundState::most_uploads() const {
  return options_.most_uploads == 0 ? most() : options_.most_uploads;
}

std::size_t OpenRoundState::row_bytes() const { return options_.length * width_of(options_.dtype); }

Round OpenRoundState::round() const {
  Round round;
  round.server = options_.server;
  round.server_counts = options_.server_counts;
  round.server_whole = options_.server_whole;
  round.model = options_.model;
  round.learning_rate = options_.learning_rate;
  round.oracle = options_.oracle;
  round.seed = options_.seed;
  round.number = options_.number;
  return round;
}

Result<void> OpenRoundState::prepare_server() {
  for (const UpdateView* rows : {&options_.server, &options_.server_whole}) {
    if (Result<void> good = check_server_rows(kernels_, *rows); !good) return good;
  }
  const std::size_t c = options_.server.rows();
  if (!rule_.needs_gram()) return {};
  server_factors_ = options_.sketch ? RowList(DType::kFloat64, options_.sketch->length)
                                    : RowList(options_.dtype, options_.length);
  if (c == 0) return {};
  if (options_.sketch) {
    const std::size_t length = options_.sketch->length;
    server_sketches_.resize(c * length);
    kernels_.sketch(options_.server, *options_.sketch, server_sketches_);
    for (std::size_t z = 0; z < c; ++z) {
      add_sketch(std::span(server_sketches_).subspan(z * length, length), server_factors_);
    }
  } else {
    server_factors_.add(options_.server);
  }
  server_products_.resize(c * c);
  const UpdateView rows = server_factors_.view();
  for (std::size_t z = 0; z < c; ++z) {
    RowList one(rows.dtype(), rows.length());
    one.add(rows, z);
    const DotsPass pass = kernels_.dots(rows, one.view(), kOne);
    for (std::size_t y = 0; y <= z; ++y) {
      server_products_[z * c + y] = server_products_[y * c + z] = pass.dot[y];
    }
  }
  return {};
}

// A cohort's clients have a place each.
bool OpenRoundState::full() const { return options_.cohort.empty() && accepted_ >= most(); }

Error OpenRoundState::full_error(std::string_view id) const {
  return refusal(id, fmt::format("the round takes {} updates, and all have come", most()));
}

// Without a cohort.
Result<void> OpenRoundState::check_room(std::string_view id, Delivery delivery) const {
  if (full()) return full_error(id);
  if (delivery == Delivery::kWhole || in_chunks_ < most_uploads()) return {};
  return refusal(id, fmt::format("{} uploads are unfinished, the most at once (most_uploads={}); "
                                 "begin again when one has ended, or send the update whole",
                                 in_chunks_, most_uploads()));
}

void OpenRoundState::end_upload(Delivery delivery) {
  --uploading_;
  if (delivery == Delivery::kInChunks) --in_chunks_;
}

Result<void> OpenRoundState::enter(std::string_view id, DType dtype, std::size_t length,
                                   Delivery delivery) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return refusal(id, "too late: the round is closed");
  auto found = clients_.find(id);
  if (found == clients_.end()) {
    if (!options_.cohort.empty()) return refusal(id, "not of this round's cohort");
    if (id.empty()) return refusal(id, "an id must not be empty");
    if (Result<void> room = check_room(id, delivery); !room) return room;
    found = clients_.try_emplace(std::string(id)).first;
  }
  Client& client = found->second;
  switch (client.standing) {
    case Standing::kUploading:
      return refusal(id, "an upload of it is under way");
    case Standing::kAccepted:
      return refusal(id, "its update is in already; only the first counts");
    case Standing::kRefused:
      return refusal(id, fmt::format("its update was refused before ({})", client.reason));
    case Standing::kAbsent:
      break;
  }
  if (dtype != options_.dtype || length != options_.length) {
    return turn_away(found,
                     fmt::format("refused: it is {} of length {}; the round takes {} of length {}",
                                 name(dtype), length, name(options_.dtype), options_.length));
  }
  client.standing = Standing::kUploading;
  client.delivery = delivery;
  ++uploading_;
  if (delivery == Delivery::kInChunks) ++in_chunks_;
  return {};
}

// Changes nothing where it throws.
Error OpenRoundState::turn_away(Clients::iterator client, std::string reason) {
  Error told = refusal(client->first, reason);
  // Ids cost nothing where there is no cohort: the memory of them has an end.
  if (options_.cohort.empty() && refused_ >= most()) {
    clients_.erase(client);
    return told;
  }
  client->second.standing = Standing::kRefused;
  client->second.reason = std::move(reason);
  ++refused_;
  return told;
}

Error OpenRoundState::refuse(std::string_view id, std::string reason) {
  const std::scoped_lock lock(mutex_);
  const auto client = clients_.find(id);
  // After the close nobody's standing changes: it came too late.
  if (closed_) {
    Error told = refusal(id, reason);
    end_upload(client->second.delivery);
    client->second.standing = Standing::kAbsent;
    return told;
  }
  const Delivery delivery = client->second.delivery;
  Error told = turn_away(client, std::move(reason));
  end_upload(delivery);
  return told;
}

void OpenRoundState::leave(std::string_view id) {
  const std::scoped_lock lock(mutex_);
  const auto client = clients_.find(id);
  end_upload(client->second.delivery);
  client->second.standing = Standing::kAbsent;
  // Without a cohort nobody waits for it.
  if (options_.cohort.empty() && !closed_) clients_.erase(client);
}

// Its product with itself, or why it is no use.
Result<double> OpenRoundState::check_update(Arrival& update) const {
  const DotsPass norm = kernels_.dots(update.row.view(), {}, {});
  const std::vector<Refusal> bad = refusals(kernels_, update.row.view(), norm.scan);
  if (!bad.empty()) return invalid_argument(bad.front().reason);
  if (!options_.sketch || !rule_.needs_gram()) return norm.sq_norm[0];
  update.sketch.resize(options_.sketch->length);
  kernels_.sketch(update.row.view(), *options_.sketch, update.sketch);
  return kernels_.dots(factors(update).view(), {}, {}).sq_norm[0];
}

// What is multiplied: the update, or its sketch.
RowList OpenRoundState::factors(const Arrival& update) const {
  if (!options_.sketch) return update.row;
  RowList list(DType::kFloat64, update.sketch.size());
  add_sketch(update.sketch, list);
  return list;
}

Result<void> OpenRoundState::accept(std::string_view id, std::unique_ptr<Arrival> update) {
  std::shared_ptr<Arrival> entered;
  Arrivals before;
  double own = 0;
  try {
    const Result<double> square = check_update(*update);
    if (!square) return refuse(id, square.error().message);
    own = *square;
    entered = std::move(update);
    if (Result<void> in = take_in(id, entered, before); !in) return in;
  } catch (...) {
    leave(id);
    throw;
  }
  try {
    if (rule_.needs_gram()) entered->products = multiply(*entered, before, own);
  } catch (...) {
    lose(id);
    throw;
  }
  const std::scoped_lock lock(mutex_);
  --working_;
  settled_.notify_all();
  return {};
}

// Gives what came before. Changes nothing where it throws.
Result<void> OpenRoundState::take_in(std::string_view id, const std::shared_ptr<Arrival>& update,
                                     Arrivals& before) {
  const std::scoped_lock lock(mutex_);
  const auto found = clients_.find(id);
  Client& client = found->second;
  if (closed_ || full()) {
    Error late = closed_ ? refusal(id, "too late: the round is closed") : full_error(id);
    end_upload(client.delivery);
    client.standing = Standing::kAbsent;
    if (!closed_) clients_.erase(found);
    return late;
  }
  if (rule_.needs_gram()) before = arrivals_;
  arrivals_.push_back(update);
  client.arrival = arrivals_.size() - 1;
  client.standing = Standing::kAccepted;
  end_upload(client.delivery);
  ++accepted_;
  ++working_;
  return {};
}

// Every product is formed when the later of its two updates comes, by the same sums either way.
std::vector<double> OpenRoundState::multiply(const Arrival& update, const Arrivals& before,
                                             double own) const {
  RowList others = server_factors_;
  for (const auto& each : before) {
    if (each) others.add(factors(*each).view());
  }
  const std::vector<double> dots = kernels_.dots(others.view(), factors(update).view(), kOne).dot;
  const auto servers = static_cast<std::ptrdiff_t>(server_factors_.rows());
  std::vector<double> products(dots.begin(), dots.begin() + servers);
  auto next = dots.begin() + servers;
  for (const auto& each : before) products.push_back(each ? *next++ : 0.0);
  products.push_back(own);
  return products;
}

// As if the update had not come.
void OpenRoundState::lose(std::string_view id) {
  const std::scoped_lock lock(mutex_);
  const auto client = clients_.find(id);
  arrivals_[client->second.arrival].reset();
  --accepted_;
  --working_;
  client->second.standing = Standing::kAbsent;
  if (options_.cohort.empty() && !closed_) clients_.erase(client);
  settled_.notify_all();
}

bool OpenRoundState::closed() const {
  const std::scoped_lock lock(mutex_);
  return closed_;
}

bool OpenRoundState::may_close(double now) const {
  const std::scoped_lock lock(mutex_);
  return enough(now);
}

bool OpenRoundState::enough(double now) const {
  // One whose products are being formed may yet be lost.
  const std::size_t in = accepted_ - working_;
  const std::size_t heard = options_.cohort.empty() ? in : in + refused_;
  if (heard == most()) return true;
  if (in < (options_.quorum == 0 ? most() : options_.quorum)) return false;
  return !options_.deadline || now >= *options_.deadline;
}

Error OpenRoundState::too_early(double now) const {
  std::string message =
      fmt::format("open round: {} of {} updates are in and {} were refused; it closes with {}",
                  accepted_, most(), refused_, options_.quorum == 0 ? most() : options_.quorum);
  if (options_.deadline) {
    message += fmt::format(" from {:g} on, and now is {:g}", *options_.deadline, now);
  }
  return {ErrorCode::kRefused, std::move(message)};
}

Progress OpenRoundState::progress() const {
  const std::scoped_lock lock(mutex_);
  Progress progress{.accepted = accepted_,
                    .refused = refused_,
                    .uploading = uploading_,
                    .asked = options_.cohort.size(),
                    .bytes = uploading_ * row_bytes(),
                    .closed = closed_};
  for (const auto& update : arrivals_) {
    if (!update) continue;
    progress.bytes += update->own.rows() * row_bytes() + update->sketch.size() * sizeof(double);
  }
  return progress;
}

Result<FilledRound> OpenRoundState::close(double now) {
  std::unique_lock lock(mutex_);
  if (!closed_ && !enough(now)) return too_early(now);
  closed_ = true;
  settled_.wait(lock, [&] { return working_ == 0; });
  return fill();
}

FilledRound OpenRoundState::fill() const {
  // The map is in the order of the ids; a cohort has an order of its own.
  std::vector<std::pair<std::string_view, const Client*>> order;
  for (const auto& [id, client] : clients_) order.emplace_back(id, &client);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second->position < b.second->position;
  });
  FilledRound filled;
  filled.updates = RowList(options_.dtype, options_.length);
  std::vector<const Client*> rows;
  for (const auto& [id, client] : order) {
    // Whoever has no place in a cohort may have many ids: they must not use up the rule's f.
    if (client->standing == Standing::kRefused && options_.cohort.empty()) continue;
    if (client->standing == Standing::kAbsent || client->standing == Standing::kUploading) {
      filled.absent.emplace_back(id);
      continue;
    }
    filled.ids.emplace_back(id);
    rows.push_back(client);
    if (client->standing == Standing::kAccepted) {
      filled.updates.add(arrivals_[client->arrival]->row.view());
      continue;
    }
    filled.refused.push_back({rows.size() - 1, client->reason});
    visit(options_.dtype, [&]<Element T>(T) {
      const T* const nothing = nullptr;
      filled.updates.add(UpdateView(std::span<const T* const>(&nothing, 1), options_.length));
    });
  }
  if (rule_.needs_gram()) fill_products(rows, filled.products);
  return filled;
}

void OpenRoundState::fill_products(const std::vector<const Client*>& rows,
                                   std::vector<double>& products) const {
  const std::size_t n = rows.size();
  const std::size_t c = options_.server.rows();
  products.assign((n + c) * (n + c), 0.0);
  const auto set = [&](std::size_t i, std::size_t j, double value) {
    products[i * (n + c) + j] = products[j * (n + c) + i] = value;
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (rows[i]->standing != Standing::kAccepted) continue;
    const std::size_t a = rows[i]->arrival;
    for (std::size_t j = 0; j <= i; ++j) {
      if (rows[j]->standing != Standing::kAccepted) continue;
      const std::size_t b = rows[j]->arrival;
      set(i, j, arrivals_[std::max(a, b)]->products[c + std::min(a, b)]);
    }
    for (std::size_t z = 0; z < c; ++z) set(i, n + z, arrivals_[a]->products[z]);
  }
  for (std::size_t z = 0; z < c; ++z) {
    for (std::size_t y = 0; y <= z; ++y) set(n + z, n + y, server_products_[z * c + y]);
  }
}

}  // namespace boba
