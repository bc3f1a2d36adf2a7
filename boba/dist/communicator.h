// Communicator: the processes that work on one task together, each with a rank.
//
// All ranks make the same calls in the same order, except send and receive, which come in pairs. A
// rank that cannot go on while others wait for it calls abort, which ends them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "boba/core/result.h"

namespace boba {

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // For people: "rank 2 on node7".
  virtual std::string name() const = 0;

  virtual void send(int to, std::span<const std::byte> bytes) const = 0;
  virtual void receive(int from, std::span<std::byte> bytes) const = 0;
  // A message of this size from whoever sent one: the sender's rank, or -1 where none waits.
  virtual int poll(std::span<std::byte> bytes) const = 0;

  // What root has, everyone has.
  virtual void broadcast(int root, std::span<std::byte> bytes) const = 0;
  // Each number becomes the largest that any rank has there.
  virtual void all_max(std::span<std::uint64_t> numbers) const = 0;

  // Ranks 0 to count - 1 with messages of their own; null on the others.
  virtual std::unique_ptr<Communicator> first(int count) const = 0;

  [[noreturn]] virtual void abort(const std::string& why) const = 0;
};

// One process alone: rank 0 of 1.
std::unique_ptr<Communicator> make_self_communicator();

// One outcome for all: success where every rank has it, otherwise the error of the lowest rank that
// failed, with its name before it unless it is rank 0.
Result<void> agree(const Communicator& ranks, const Result<void>& mine);

// Root's text, on all ranks.
std::string broadcast_text(const Communicator& ranks, int root, std::string text);

// Whether all ranks have the same text.
bool all_same(const Communicator& ranks, std::string_view text);

}  // namespace boba
