#include "tools/shared_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "boba/files/durable.h"
#include "tools/npy.h"

namespace boba::tools {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP};

// For the signal handler, which must not read data that could be half changed.
std::array<char, 4096> doomed{};
std::array<struct sigaction, std::size(kSignals)> before{};

void remove_and_end(int signal_number) {
  ::unlink(doomed.data());
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

Error cannot(const std::string& path, std::string_view hint) {
  return {ErrorCode::kIo, fmt::format("cannot write {}: {}{}", path, std::strerror(errno), hint)};
}

Error no_regular_file(const std::string& path) {
  return {ErrorCode::kIo,
          fmt::format("cannot write {}: several ranks can write only to a regular file", path)};
}

// Closes on every path out of a function.
struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

Result<void> write_part(const std::string& path, const std::string& temporary, std::size_t offset,
                        std::span<const std::byte> bytes) {
  Descriptor file{::open(temporary.c_str(), O_WRONLY | O_CLOEXEC)};
  if (file.value < 0) return cannot(path, "; all ranks must see the folder it goes to");
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(file.value, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return cannot(path, "");
    offset += static_cast<std::size_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  // Rank 0 can sync only what its own machine has.
  if (!sync_file(file.value)) return cannot(path, "");
  // Some file systems report a failed write only here.
  if (::close(std::exchange(file.value, -1)) != 0) return cannot(path, "");
  return {};
}

}  // namespace

RemovedOnSignal::RemovedOnSignal(const std::string& path) {
  // A longer name could not have been opened.
  const std::size_t count = std::min(path.size(), doomed.size() - 1);
  std::copy_n(path.data(), count, doomed.data());
  doomed[count] = '\0';
  struct sigaction action = {};
  action.sa_handler = &remove_and_end;
  sigemptyset(&action.sa_mask);
  for (std::size_t k = 0; k < std::size(kSignals); ++k) {
    ::sigaction(kSignals[k], nullptr, &before[k]);
    // Ignored signals stay ignored: the caller, such as nohup, wants the program to survive them.
    if (before[k].sa_handler == SIG_IGN) continue;
    ::sigaction(kSignals[k], &action, nullptr);
  }
}

RemovedOnSignal::~RemovedOnSignal() {
  for (std::size_t k = 0; k < std::size(kSignals); ++k) {
    ::sigaction(kSignals[k], &before[k], nullptr);
  }
}

Result<void> check_shared_output(const std::string& path) {
  if (Result<void> writable = check_writable(path); !writable) return writable;
  if (written_directly(path)) return no_regular_file(path);
  return {};
}

// Header, and room for the numbers.
Result<void> SharedNpy::begin(const std::string& path, const std::string& header,
                              std::size_t bytes) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.error();
  if (file->temporary().empty()) return no_regular_file(path);
  file_.emplace(*std::move(file));
  guard_.emplace(file_->temporary());
  Result<void> done = file_->write(header);
  if (done) done = file_->extend(header.size() + bytes);
  return done;
}

Result<void> SharedNpy::write(const std::string& path, const UpdateView& part, std::size_t first,
                              std::size_t whole) {
  const std::size_t element = part.dtype() == DType::kFloat32 ? sizeof(float) : sizeof(double);
  const std::string header = npy_header(part.dtype(), 1, whole);
  Result<void> done;
  if (ranks_.rank() == 0) done = begin(path, header, whole * element);
  if (done = agree(ranks_, done); !done) return done;
  const std::string temporary = broadcast_text(ranks_, 0, file_ ? file_->temporary() : "");
  if (!guard_) guard_.emplace(temporary);
  const auto bytes = visit(part.dtype(), [&]<Element T>(T) {
    return std::as_bytes(std::span(part.row<T>(0), part.length()));
  });
  return agree(ranks_, write_part(path, temporary, header.size() + first * element, bytes));
}

Result<void> SharedNpy::commit() {
  if (!file_) return {};
  return file_->commit();
}

}  // namespace boba::tools
