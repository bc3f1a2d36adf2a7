#include "boba/core/open_round_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "boba/core/size.h"
#include "boba/text/printable.h"

namespace boba {
namespace {

Error refusal(std::string_view client, std::string_view reason) {
  return {ErrorCode::kRefused,
          fmt::format("open round: client '{}': {}", printable(client), reason)};
}

}  // namespace

OpenRoundState::OpenRoundState(const Kernels& kernels, const Aggregator& rule,
                               OpenRoundOptions options)
    : kernels_(kernels),
      rule_(rule),
      options_(std::move(options)),
      products_(kernels_, options_, rule_.needs_gram()) {
  for (std::size_t i = 0; i < options_.cohort.size(); ++i) {
    clients_[options_.cohort[i]].position = i;
  }
  // Sketches as long as the updates would save nothing.
  if (options_.sketch && options_.length <= options_.sketch->length) options_.sketch.reset();
}

std::size_t OpenRoundState::capacity() const {
  return options_.cohort.empty() ? options_.most : options_.cohort.size();
}

std::size_t OpenRoundState::upload_capacity() const {
  return options_.most_uploads == 0 ? capacity() : options_.most_uploads;
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

// Each client of a cohort has its own place.
bool OpenRoundState::full() const { return options_.cohort.empty() && accepted_ >= capacity(); }

Error OpenRoundState::full_error(std::string_view id) const {
  return refusal(id, fmt::format("the round takes {} updates, and all have come", capacity()));
}

// Without a cohort.
Result<void> OpenRoundState::check_room(std::string_view id, Delivery delivery) const {
  if (full()) return full_error(id);
  if (delivery == Delivery::kWhole || in_chunks_ < upload_capacity()) return {};
  return refusal(id, fmt::format("{} uploads are unfinished, the most at once (most_uploads={}); "
                                 "begin again when one has ended, or send the update whole",
                                 in_chunks_, upload_capacity()));
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
    if (!options_.cohort.empty()) return refusal(id, "not in this round's cohort");
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
    return record_refusal(
        found, fmt::format("refused: it is {} of length {}; the round takes {} of length {}",
                           name(dtype), length, name(options_.dtype), options_.length));
  }
  client.standing = Standing::kUploading;
  client.delivery = delivery;
  ++uploading_;
  if (delivery == Delivery::kInChunks) ++in_chunks_;
  return {};
}

// Changes nothing if it throws.
Error OpenRoundState::record_refusal(Clients::iterator client, std::string reason) {
  Error error = refusal(client->first, reason);
  // Without a cohort one sender may have many ids, so only so many of them are remembered.
  if (options_.cohort.empty() && refused_ >= capacity()) {
    clients_.erase(client);
    return error;
  }
  client->second.standing = Standing::kRefused;
  client->second.reason = std::move(reason);
  ++refused_;
  return error;
}

Error OpenRoundState::refuse(std::string_view id, std::string reason) {
  const std::scoped_lock lock(mutex_);
  const auto client = clients_.find(id);
  // The round is closed: the update is too late, and what the round decided stands.
  if (closed_) {
    Error error = refusal(id, reason);
    end_upload(client->second.delivery);
    client->second.standing = Standing::kAbsent;
    return error;
  }
  const Delivery delivery = client->second.delivery;
  Error error = record_refusal(client, std::move(reason));
  end_upload(delivery);
  return error;
}

void OpenRoundState::leave(std::string_view id) {
  const std::scoped_lock lock(mutex_);
  const auto client = clients_.find(id);
  end_upload(client->second.delivery);
  client->second.standing = Standing::kAbsent;
  // Without a cohort nobody waits for this client.
  if (options_.cohort.empty() && !closed_) clients_.erase(client);
}

Result<void> OpenRoundState::accept(std::string_view id, std::unique_ptr<Arrival> update) {
  std::shared_ptr<Arrival> entered;
  Arrivals before;
  double square = 0;
  try {
    const Result<double> checked = products_.check(*update);
    if (!checked) return refuse(id, checked.error().message);
    square = *checked;
    entered = std::move(update);
    if (Result<void> in = admit(id, entered, before); !in) return in;
  } catch (...) {
    leave(id);
    throw;
  }
  try {
    entered->products = products_.multiply(*entered, before, square);
  } catch (...) {
    drop(id);
    throw;
  }
  const std::scoped_lock lock(mutex_);
  --working_;
  settled_.notify_all();
  return {};
}

// before: the updates that came before. Changes nothing if it throws.
Result<void> OpenRoundState::admit(std::string_view id, const std::shared_ptr<Arrival>& update,
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

// Afterwards it is as if the update had not come.
void OpenRoundState::drop(std::string_view id) {
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
  return may_end(now);
}

bool OpenRoundState::may_end(double now) const {
  // An update whose products are still being formed may yet be dropped.
  const std::size_t complete = accepted_ - working_;
  const std::size_t heard = options_.cohort.empty() ? complete : complete + refused_;
  if (heard == capacity()) return true;
  if (complete < (options_.quorum == 0 ? capacity() : options_.quorum)) return false;
  return !options_.deadline || now >= *options_.deadline;
}

Error OpenRoundState::too_early(double now) const {
  std::string message = fmt::format(
      "open round: {} of {} updates are in and {} were refused; it closes with {}", accepted_,
      capacity(), refused_, options_.quorum == 0 ? capacity() : options_.quorum);
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
  if (!closed_ && !may_end(now)) return too_early(now);
  closed_ = true;
  settled_.wait(lock, [&] { return working_ == 0; });
  return fill();
}

Result<Verdict> OpenRoundState::decide(const Round& round, MutableRow out, Memory* memory) {
  if (!rule_.uses_memory()) return rule_.aggregate(kernels_, round, out);
  const std::scoped_lock lock(deciding_);
  if (decided_) {
    std::optional<Memory> before = before_;
    return rule_.aggregate(kernels_, round, out, before ? &*before : nullptr);
  }
  std::optional<Memory> before;
  if (memory != nullptr) before = memory->only(round.ids);
  Result<Verdict> verdict = rule_.aggregate(kernels_, round, out, memory);
  if (verdict) {
    decided_ = true;
    before_ = std::move(before);
  }
  return verdict;
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
  std::vector<std::optional<std::size_t>> rows;  // arrivals
  for (const auto& [id, client] : order) {
    // Without a cohort one sender may have many ids, which must not use up the rule's f.
    if (client->standing == Standing::kRefused && options_.cohort.empty()) continue;
    if (client->standing == Standing::kAbsent || client->standing == Standing::kUploading) {
      filled.absent.emplace_back(id);
      continue;
    }
    filled.ids.emplace_back(id);
    if (client->standing == Standing::kAccepted) {
      rows.push_back(client->arrival);
      filled.updates.add(arrivals_[client->arrival]->row.view());
      continue;
    }
    filled.refused.push_back({rows.size(), client->reason});
    rows.push_back(std::nullopt);
    visit(options_.dtype, [&]<Element T>(T) {
      const T* const nothing = nullptr;
      filled.updates.add(UpdateView(std::span<const T* const>(&nothing, 1), options_.length));
    });
  }
  filled.products = products_.matrix(rows, arrivals_);
  return filled;
}

}  // namespace boba
