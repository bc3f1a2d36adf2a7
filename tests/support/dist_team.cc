#include "tests/support/dist_team.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace boba::test {
namespace {

using Message = std::vector<std::byte>;

// What the ranks of one communicator share.
class Exchange {
 public:
  explicit Exchange(int size) : size_(size) {}

  int size() const { return size_; }

  void send(int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    mail_[{from, to}].emplace_back(bytes.begin(), bytes.end());
    changed_.notify_all();
  }
  void receive(int from, int to, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    std::deque<Message>& waiting = mail_[{from, to}];
    wait(lock, [&] { return !waiting.empty(); });
    take(waiting, bytes);
  }
  int poll(int to, std::span<std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    for (int from = 0; from < size_; ++from) {
      std::deque<Message>& waiting = mail_[{from, to}];
      if (waiting.empty()) continue;
      take(waiting, bytes);
      return from;
    }
    return -1;
  }

  // Each rank brings something; when all have, `join` has seen all of it, and each takes the
  // result.
  void meet(const std::function<void(Message&)>& join, const std::function<void(Message&)>& take) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return !leaving_; });
    join(shared_);
    if (++present_ == size_) {
      leaving_ = true;
      changed_.notify_all();
    }
    wait(lock, [&] { return leaving_; });
    take(shared_);
    if (--present_ == 0) {
      leaving_ = false;
      shared_.clear();
      changed_.notify_all();
    }
  }

  // The first `count` ranks have this in common; made by whoever comes first.
  std::shared_ptr<Exchange> part(int count) {
    std::shared_ptr<Exchange> result;
    meet(
        [&](Message&) {
          if (!part_) part_ = std::make_shared<Exchange>(count);
        },
        [&](Message&) {
          result = part_;
          if (present_ == 1) part_.reset();
        });
    const std::lock_guard lock(mutex_);
    parts_.push_back(result);
    return result;
  }

  void give_up() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_all();
    for (const auto& part : parts_) part->give_up();
  }

 private:
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    const bool come =
        changed_.wait_for(lock, std::chrono::seconds(20), [&] { return broken_ || ready(); });
    if (!come || !ready()) throw std::runtime_error("a rank waits for nothing");
  }

  static void take(std::deque<Message>& waiting, std::span<std::byte> bytes) {
    if (waiting.front().size() != bytes.size()) {
      throw std::runtime_error(fmt::format("a message of {} bytes where {} were expected",
                                           waiting.front().size(), bytes.size()));
    }
    std::ranges::copy(waiting.front(), bytes.begin());
    waiting.pop_front();
  }

  int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<Message>> mail_;
  Message shared_;
  int present_ = 0;
  bool leaving_ = false;
  bool broken_ = false;
  std::shared_ptr<Exchange> part_;
  std::vector<std::shared_ptr<Exchange>> parts_;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<Exchange> exchange, int rank)
      : exchange_(std::move(exchange)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return exchange_->size(); }
  std::string name() const override { return fmt::format("rank {} of the test", rank_); }
  void send(int to, std::span<const std::byte> bytes) const override {
    exchange_->send(rank_, to, bytes);
  }
  void receive(int from, std::span<std::byte> bytes) const override {
    exchange_->receive(from, rank_, bytes);
  }
  int poll(std::span<std::byte> bytes) const override { return exchange_->poll(rank_, bytes); }
  void broadcast(int root, std::span<std::byte> bytes) const override {
    exchange_->meet(
        [&](Message& shared) {
          if (rank_ == root) shared.assign(bytes.begin(), bytes.end());
        },
        [&](Message& shared) {
          if (shared.size() != bytes.size()) throw std::runtime_error("broadcasts do not match");
          std::ranges::copy(shared, bytes.begin());
        });
  }
  void all_max(std::span<std::uint64_t> numbers) const override {
    const auto bytes = std::as_writable_bytes(numbers);
    exchange_->meet(
        [&](Message& shared) {
          if (shared.empty()) shared.resize(bytes.size());
          if (shared.size() != bytes.size()) throw std::runtime_error("all_max do not match");
          auto* largest = reinterpret_cast<std::uint64_t*>(shared.data());
          for (std::size_t k = 0; k < numbers.size(); ++k) {
            largest[k] = std::max(largest[k], numbers[k]);
          }
        },
        [&](Message& shared) { std::ranges::copy(shared, bytes.begin()); });
  }
  std::unique_ptr<Communicator> first(int count) const override {
    std::shared_ptr<Exchange> part = exchange_->part(count);
    if (rank_ >= count) return nullptr;
    return std::make_unique<ThreadCommunicator>(std::move(part), rank_);
  }
  [[noreturn]] void abort(const std::string& why) const override { throw std::runtime_error(why); }

 private:
  std::shared_ptr<Exchange> exchange_;
  int rank_;
};

}  // namespace

void run_ranks(int ranks, const std::function<void(const Communicator&)>& body) {
  const auto exchange = std::make_shared<Exchange>(ranks);
  std::mutex mutex;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(ThreadCommunicator(exchange, rank));
      } catch (...) {
        {
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
        }
        exchange->give_up();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace boba::test
