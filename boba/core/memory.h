// Memory: what a rule remembers of earlier rounds, a few numbers for each client.
//
//   boba::Memory memory;                                  // kept from round to round
//   auto verdict = rule.aggregate(*kernels, round, out, &memory);
//   std::string bytes = memory.save();                    // with the model
//
// A memory belongs to the caller and to one rule. A round that fails leaves it as it was. Clients
// are known by their ids alone. A client that does not come keeps its state: time is counted in the
// rounds that a client was seen in. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"

namespace boba {

// What a memory holds of the clients of one round, for the rule.
struct Past {
  struct Client {
    std::uint64_t seen = 0;              // earlier rounds in which it came
    std::span<const double> state = {};  // as the rule left it; empty: a new client
  };
  std::vector<Client> rows;  // one per row that the rule sees
};

class Memory {
 public:
  struct Client {
    std::uint64_t seen = 0;     // rounds in which it came
    std::uint64_t last = 0;     // the last of these
    std::vector<double> state;  // the rule's numbers, width() of them
  };
  // What a round tells about one client.
  struct Entry {
    std::string_view id;
    std::vector<double> state;
  };

  static constexpr std::size_t kMostClients = 100000;

  // most: clients to remember. Beyond it the one that was seen least recently is forgotten, of
  // those the one that was seen in the fewest rounds, so new ids push out other new ids first.
  // REQUIRES: most > 0.
  explicit Memory(std::size_t most = kMostClients) : most_(most) {}

  const std::string& rule() const { return rule_; }  // its spec; empty before the first round
  std::uint64_t rounds() const { return rounds_; }   // that were remembered
  std::size_t most() const { return most_; }
  std::size_t width() const { return width_; }  // numbers per client; 0 before the first round
  std::size_t clients() const { return clients_.size(); }
  const Client* find(std::string_view id) const;

  // A memory of these clients alone, otherwise equal.
  Memory only(std::span<const std::string> ids) const;

  // Whether a rule may go on with this memory. width: the numbers per client that it needs.
  Result<void> suits(const std::string& rule, std::size_t width) const;

  // Adds a round. The ids are distinct and not empty, all states have the rule's width. REQUIRES:
  // suits(rule, width).
  void remember(const std::string& rule, std::size_t width, std::vector<Entry> round);

  // Bytes that load() turns into an equal memory: the same on every machine. load() refuses bytes
  // that are damaged, of a later version, or not a memory.
  std::string save() const;
  static Result<Memory> load(std::string_view bytes);

 private:
  void forget_beyond_most();

  std::size_t most_;
  std::string rule_;
  std::uint64_t rounds_ = 0;
  std::size_t width_ = 0;
  std::map<std::string, Client, std::less<>> clients_;
};

}  // namespace boba
