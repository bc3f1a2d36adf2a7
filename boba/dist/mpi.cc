#include "boba/dist/mpi.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "boba/text/printable.h"

namespace boba {
namespace {

constexpr int kTag = 1;
// MPI counts in int.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

// Errors of MPI itself end the job: that is its default, and the message is its own.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(MPI_Comm comm, bool world) : comm_(comm), world_(world) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
    int length = 0;
    MPI_Get_processor_name(host.data(), &length);
    host_.assign(host.data(), static_cast<std::size_t>(length));
  }
  ~MpiCommunicator() override {
    if (world_) {
      MPI_Finalize();
    } else {
      MPI_Comm_free(&comm_);
    }
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string name() const override { return fmt::format("rank {} on {}", rank_, host_); }

  void send(int to, std::span<const std::byte> bytes) const override {
    in_parts(bytes, [&](const std::byte* data, int count) {
      MPI_Send(data, count, MPI_BYTE, to, kTag, comm_);
    });
  }
  void receive(int from, std::span<std::byte> bytes) const override {
    in_parts(bytes, [&](std::byte* data, int count) {
      MPI_Recv(data, count, MPI_BYTE, from, kTag, comm_, MPI_STATUS_IGNORE);
    });
  }
  int poll(std::span<std::byte> bytes) const override {
    int waiting = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kTag, comm_, &waiting, &status);
    if (waiting == 0) return -1;
    receive(status.MPI_SOURCE, bytes);
    return status.MPI_SOURCE;
  }
  void broadcast(int root, std::span<std::byte> bytes) const override {
    in_parts(bytes,
             [&](std::byte* data, int count) { MPI_Bcast(data, count, MPI_BYTE, root, comm_); });
  }
  void all_max(std::span<std::uint64_t> numbers) const override {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_UINT64_T,
                  MPI_MAX, comm_);
  }

  std::unique_ptr<Communicator> first(int count) const override {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(comm_, rank_ < count ? 0 : MPI_UNDEFINED, rank_, &part);
    if (part == MPI_COMM_NULL) return nullptr;
    return std::make_unique<MpiCommunicator>(part, false);
  }

  [[noreturn]] void abort(const std::string& why) const override {
    std::fprintf(stderr, "boba: %s: %s\n", name().c_str(), printable(why).c_str());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::_Exit(1);
  }

 private:
  template <class Bytes, class Body>
  static void in_parts(Bytes bytes, const Body& body) {
    while (!bytes.empty()) {
      const std::size_t count = std::min(bytes.size(), kMostBytes);
      body(bytes.data(), static_cast<int>(count));
      bytes = bytes.subspan(count);
    }
  }

  MPI_Comm comm_;
  bool world_;
  int rank_ = 0;
  int size_ = 1;
  std::string host_;
};

}  // namespace

bool mpi_built() { return true; }

Result<std::unique_ptr<Communicator>> join_mpi() {
  // Calls of different threads never overlap; see job_queue.h.
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    return Error{ErrorCode::kInternal, "MPI failed to start"};
  }
  auto world = std::make_unique<MpiCommunicator>(MPI_COMM_WORLD, true);
  if (provided < MPI_THREAD_SERIALIZED) {
    return Error{ErrorCode::kInternal, "this MPI may not be called from several threads in turn"};
  }
  return std::unique_ptr<Communicator>(std::move(world));
}

}  // namespace boba
