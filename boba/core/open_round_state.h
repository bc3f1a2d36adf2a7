// What an open round knows: which clients have come, and with what. Internal to OpenRound.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/core/arrival_products.h"
#include "boba/core/kernels.h"
#include "boba/core/memory.h"
#include "boba/core/open_round.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/views.h"

namespace boba {

// A closed round: the rows that came, in their order, and what is known of them.
struct FilledRound {
  RowList updates;
  std::vector<std::string> ids;
  std::vector<Refusal> refused;
  std::vector<std::string> absent;
  std::vector<double> products;
};

// How an update comes: whole in one call, or in chunks over a time that its sender decides.
enum class Delivery : std::uint8_t { kWhole, kInChunks };

// enter() begins a client's upload; refuse(), leave() or accept() ends it.
class OpenRoundState {
 public:
  OpenRoundState(const Kernels& kernels, const Aggregator& rule, OpenRoundOptions options);

  const OpenRoundOptions& options() const { return options_; }
  const Kernels& kernels() const { return kernels_; }
  const Aggregator& rule() const { return rule_; }
  std::size_t capacity() const;         // updates that can come
  std::size_t upload_capacity() const;  // unfinished at once, without a cohort
  std::size_t row_bytes() const;
  Round round() const;  // without its updates

  // Checks the server's rows and multiplies them with each other.
  Result<void> prepare() { return products_.prepare(); }

  Result<void> enter(std::string_view client, DType dtype, std::size_t length, Delivery delivery);
  // A client of the cohort counts as Byzantine. Returns what to tell it.
  Error refuse(std::string_view client, std::string reason);
  // The client may begin again.
  void leave(std::string_view client);
  // Refuses the update, or takes it in and multiplies it with those that are there. After an
  // exception the client may begin again.
  Result<void> accept(std::string_view client, std::unique_ptr<Arrival> update);

  bool closed() const;
  bool may_close(double now) const;
  Progress progress() const;
  // Takes no more updates and waits for those being worked on.
  Result<FilledRound> close(double now);
  // Aggregates the closed round. The first call that succeeds adds it to the memory. Later calls
  // give the same result and change no memory.
  Result<Verdict> decide(const Round& round, MutableRow out, Memory* memory);

 private:
  enum class Standing { kAbsent, kUploading, kAccepted, kRefused };
  struct Client {
    std::size_t position = 0;  // in the cohort
    Standing standing = Standing::kAbsent;
    Delivery delivery = Delivery::kWhole;  // where it is uploading
    std::string reason;                    // where it was refused
    std::size_t arrival = 0;               // where it was accepted: its place in arrivals_
  };

  using Clients = std::map<std::string, Client, std::less<>>;
  Error record_refusal(Clients::iterator client, std::string reason);
  Result<void> check_room(std::string_view client, Delivery delivery) const;
  bool full() const;
  Error full_error(std::string_view client) const;
  void end_upload(Delivery delivery);
  Result<void> admit(std::string_view client, const std::shared_ptr<Arrival>& update,
                     Arrivals& before);
  void drop(std::string_view client);
  bool may_end(double now) const;
  Error too_early(double now) const;
  FilledRound fill() const;

  const Kernels& kernels_;
  const Aggregator rule_;
  OpenRoundOptions options_;
  ArrivalProducts products_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable settled_;
  Clients clients_;
  Arrivals arrivals_;
  std::size_t accepted_ = 0;
  std::size_t refused_ = 0;
  std::size_t uploading_ = 0;  // uploads that have begun and not ended
  std::size_t in_chunks_ = 0;  // those of them that come in chunks
  std::size_t working_ = 0;    // accepted updates whose products are being formed
  bool closed_ = false;

  std::mutex deciding_;  // guards what follows, for rules with a memory
  bool decided_ = false;
  std::optional<Memory> before_;  // the memory of the round's clients before it, if there was one
};

}  // namespace boba
