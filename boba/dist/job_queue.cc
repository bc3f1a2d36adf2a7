#include "boba/dist/job_queue.h"

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace boba {
namespace {

using Number = std::array<std::uint64_t, 1>;

constexpr std::uint64_t kAsk = 0;
constexpr std::uint64_t kLeave = 1;
// Jobs take seconds: asking may take this long, and the thread that answers sleeps.
constexpr std::chrono::milliseconds kPause{5};

std::span<std::byte> bytes_of(Number& number) { return std::as_writable_bytes(std::span(number)); }

class QueueHolder final : public JobQueue {
 public:
  explicit QueueHolder(std::unique_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {
    if (ranks_->size() > 1) answering_ = std::thread([this] { answer(); });
  }
  ~QueueHolder() override {
    if (answering_.joinable()) answering_.join();
  }
  QueueHolder(const QueueHolder&) = delete;
  QueueHolder& operator=(const QueueHolder&) = delete;

  std::size_t next() override { return next_++; }

 private:
  void answer() {
    for (int present = ranks_->size() - 1; present > 0;) {
      Number message = {};
      const int from = ranks_->poll(bytes_of(message));
      if (from < 0) {
        std::this_thread::sleep_for(kPause);
      } else if (message[0] == kLeave) {
        --present;
      } else {
        message[0] = next_++;
        ranks_->send(from, bytes_of(message));
      }
    }
  }

  std::unique_ptr<Communicator> ranks_;
  std::atomic<std::size_t> next_{0};
  std::thread answering_;
};

class QueueVisitor final : public JobQueue {
 public:
  QueueVisitor(std::unique_ptr<Communicator> ranks, std::size_t jobs)
      : ranks_(std::move(ranks)), jobs_(jobs) {}
  ~QueueVisitor() override {
    Number message = {kLeave};
    ranks_->send(0, bytes_of(message));
  }
  QueueVisitor(const QueueVisitor&) = delete;
  QueueVisitor& operator=(const QueueVisitor&) = delete;

  std::size_t next() override {
    const std::lock_guard lock(mutex_);
    if (last_ >= jobs_) return last_;
    Number message = {kAsk};
    ranks_->send(0, bytes_of(message));
    ranks_->receive(0, bytes_of(message));
    last_ = message[0];
    return last_;
  }

 private:
  std::unique_ptr<Communicator> ranks_;
  std::size_t jobs_;
  std::mutex mutex_;
  std::size_t last_ = 0;  // handed out
};

}  // namespace

std::unique_ptr<JobQueue> make_job_queue(const Communicator& ranks, std::size_t jobs) {
  auto own = ranks.first(ranks.size());
  if (ranks.rank() == 0) return std::make_unique<QueueHolder>(std::move(own));
  return std::make_unique<QueueVisitor>(std::move(own), jobs);
}

}  // namespace boba
