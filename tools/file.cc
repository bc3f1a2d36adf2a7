#include "tools/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "boba/files/durable.h"

namespace boba::tools {
namespace {

Error io_error(std::string_view what, const std::string& path, std::string_view why) {
  return {ErrorCode::kIo, fmt::format("cannot {} {}: {}", what, path, why)};
}

Error system_error(std::string_view what, const std::string& path) {
  return io_error(what, path, std::strerror(errno));
}

// Closes on every path out of a function.
struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

std::string follow_links(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::canonical(path, ignored);
  return real.empty() ? path : real.string();
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// What stands at a path where output should go.
struct Place {
  bool direct = false;  // a device or pipe: written into, not replaced
  int descriptor = -1;  // it is where this stream of the program goes already (/dev/stdout)
};

Result<Place> look_at(const std::string& path, const std::string& target) {
  struct stat status {};
  if (::stat(target.c_str(), &status) != 0) return Place{};
  if (S_ISDIR(status.st_mode)) return io_error("write", path, "it is a folder");
  for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open_status {};
    if (::fstat(stream, &open_status) == 0 && open_status.st_dev == status.st_dev &&
        open_status.st_ino == status.st_ino) {
      // Replacing the file would lose what is printed later.
      return Place{true, stream};
    }
  }
  return Place{!S_ISREG(status.st_mode), -1};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.value < 0) return system_error("read", path);
  struct stat status {};
  if (::fstat(file.value, &status) != 0) return system_error("read", path);
  if (!S_ISREG(status.st_mode)) {
    return io_error("read", path, "it is not a regular file, and only those can be mapped");
  }
  if (status.st_size == 0) return MappedFile(nullptr, 0);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (data == MAP_FAILED) return system_error("map", path);
  return MappedFile(static_cast<const std::byte*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

OutputFile::OutputFile(std::string path, std::string target, std::string temporary, int descriptor)
    : path_(std::move(path)),
      target_(std::move(target)),
      temporary_(std::move(temporary)),
      descriptor_(descriptor) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {
  other.temporary_.clear();
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<OutputFile> OutputFile::create(const std::string& path) {
  const std::string target = follow_links(path);
  Result<Place> place = look_at(path, target);
  if (!place) return place.error();
  if (place->direct) {
    std::fflush(nullptr);  // what was printed comes before what is written now
    const int descriptor = place->descriptor >= 0 ? ::dup(place->descriptor)
                                                  : ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return system_error("write", path);
    return OutputFile(path, target, "", descriptor);
  }
  for (int attempt = 0;; ++attempt) {
    std::string temporary = fmt::format("{}.{}.{}.tmp", target, ::getpid(), attempt);
    // Not mkstemp: the file should get the permissions that the user's umask asks for.
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return OutputFile(path, target, std::move(temporary), descriptor);
    if (errno != EEXIST || attempt == 100) return system_error("write", path);
  }
}

Result<void> OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write", path_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> OutputFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text.data(), text.size())));
}

Result<void> OutputFile::extend(std::size_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) return system_error("write", path_);
  return {};
}

Result<void> OutputFile::commit() {
  if (!temporary_.empty() && !sync_file(descriptor_)) return system_error("write", path_);
  // Some file systems report a failed write only here.
  if (::close(std::exchange(descriptor_, -1)) != 0) return system_error("write", path_);
  if (temporary_.empty()) return {};
  if (!rename_durably(temporary_, target_)) return system_error("write", path_);
  temporary_.clear();
  return {};
}

Result<void> check_writable(const std::string& path) {
  const std::string target = follow_links(path);
  Result<Place> place = look_at(path, target);
  if (!place) return place.error();
  if (place->descriptor >= 0) return {};
  const std::string checked = place->direct ? target : folder_of(target);
  if (::access(checked.c_str(), W_OK) != 0) return system_error("write", path);
  return {};
}

bool written_directly(const std::string& path) {
  const Result<Place> place = look_at(path, follow_links(path));
  return place && place->direct;
}

}  // namespace boba::tools
