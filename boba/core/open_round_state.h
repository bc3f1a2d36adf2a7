// What an open round knows: who has come, with what, and the products so far. Internal to
// OpenRound.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/aggregator.h"
#include "boba/core/kernels.h"
#include "boba/core/open_round.h"
#include "boba/core/result.h"
#include "boba/core/round.h"
#include "boba/core/views.h"

namespace boba {

// A client's update.
struct Arrival {
  UpdateMatrix own;  // no rows where the caller keeps the numbers
  RowList row;
  std::vector<double> sketch;
  // With the server's rows, with the updates that came before, and with itself.
  std::vector<double> products;
};

// What closes: the rows that came in their order, and what is known of them.
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
  std::size_t most() const;          // updates that can come
  std::size_t most_uploads() const;  // unfinished at once, without a cohort
  std::size_t row_bytes() const;
  Round round() const;  // without its updates

  // Checks the server's rows and multiplies them with each other.
  Result<void> prepare_server();

  Result<void> enter(std::string_view client, DType dtype, std::size_t length, Delivery delivery);
  // A client of the cohort counts as Byzantine. Returns what to tell it.
  Error refuse(std::string_view client, std::string reason);
  // The client may begin again.
  void leave(std::string_view client);
  // Refuses the update, or takes it in and multiplies it with those that are there. Where that
  // fails by an exception the client may begin again.
  Result<void> accept(std::string_view client, std::unique_ptr<Arrival> update);

  bool closed() const;
  bool may_close(double now) const;
  Progress progress() const;
  // Lets nobody in any more and waits for the updates being worked on.
  Result<FilledRound> close(double now);

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
  // In the order of arrival; none where one was lost. Shared, so that those lost while others are
  // multiplied with them live on until that is done.
  using Arrivals = std::vector<std::shared_ptr<Arrival>>;

  Error turn_away(Clients::iterator client, std::string reason);
  Result<void> check_room(std::string_view client, Delivery delivery) const;
  bool full() const;
  Error full_error(std::string_view client) const;
  void end_upload(Delivery delivery);
  Result<double> check_update(Arrival& update) const;
  Result<void> take_in(std::string_view client, const std::shared_ptr<Arrival>& update,
                       Arrivals& before);
  std::vector<double> multiply(const Arrival& update, const Arrivals& before, double own) const;
  void lose(std::string_view client);
  RowList factors(const Arrival& update) const;
  bool enough(double now) const;
  Error too_early(double now) const;
  FilledRound fill() const;
  void fill_products(const std::vector<const Client*>& rows, std::vector<double>& products) const;

  const Kernels& kernels_;
  const Aggregator rule_;
  OpenRoundOptions options_;
  std::vector<double> server_sketches_;
  RowList server_factors_;  // what updates are multiplied with: the server's rows or their sketches
  std::vector<double> server_products_;  // c by c

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable settled_;
  Clients clients_;
  Arrivals arrivals_;
  std::size_t accepted_ = 0;
  std::size_t refused_ = 0;
  std::size_t uploading_ = 0;  // whole ones included
  std::size_t in_chunks_ = 0;  // of these
  std::size_t working_ = 0;    // updates that are in and whose products are being formed
  bool closed_ = false;
};

}  // namespace boba
