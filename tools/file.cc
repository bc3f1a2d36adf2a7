#include "tools/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
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

// What is mapped, for the handler of SIGBUS. begin is written last: the handler, which may run at
// any time and in any thread, sees all of an entry or none.
struct Mapping {
  std::atomic<const std::byte*> begin{nullptr};
  std::size_t size = 0;
  std::array<char, 512> name{};
};
std::array<Mapping, 16> mappings;
static_assert(std::atomic<const std::byte*>::is_always_lock_free);

void say(const char* text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

// A page of a mapped file that is no longer there was read.
void end_with_a_sentence(int signal_number, siginfo_t* info, void* /*context*/) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const Mapping& mapping : mappings) {
    const auto begin = reinterpret_cast<std::uintptr_t>(mapping.begin.load());
    if (begin == 0 || at < begin || at - begin >= mapping.size) continue;
    say("boba: cannot read ");
    say(mapping.name.data());
    say(": it became shorter while it was being read, or its disk failed\n");
    ::_exit(1);
  }
  // Not one of ours: the same instruction again, and the end that the system gives it.
  ::signal(signal_number, SIG_DFL);
}

void remember_mapping(const std::byte* begin, std::size_t size, const std::string& path) {
  static const bool heard = [] {
    struct sigaction action = {};
    action.sa_sigaction = &end_with_a_sentence;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, nullptr) == 0;
  }();
  static_cast<void>(heard);
  for (Mapping& mapping : mappings) {
    if (mapping.begin != nullptr) continue;
    mapping.size = size;
    const std::size_t count = std::min(path.size(), mapping.name.size() - 1);
    std::copy_n(path.data(), count, mapping.name.data());
    mapping.name[count] = '\0';
    mapping.begin = begin;
    return;
  }
}

void forget_mapping(const std::byte* begin) {
  for (Mapping& mapping : mappings) {
    if (mapping.begin == begin) mapping.begin = nullptr;
  }
}

std::int64_t written_at(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

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
  MappedFile file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor_ < 0) return system_error("read", path);
  struct stat status {};
  if (::fstat(file.descriptor_, &status) != 0) return system_error("read", path);
  if (!S_ISREG(status.st_mode)) {
    return io_error("read", path, "it is not a regular file, and only those can be mapped");
  }
  file.written_ = written_at(status);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return file;
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor_, 0);
  if (data == MAP_FAILED) return system_error("map", path);
  file.data_ = static_cast<const std::byte*>(data);
  file.size_ = size;
  remember_mapping(file.data_, size, path);
  return file;
}

Result<void> MappedFile::unchanged() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return system_error("read", path_);
  if (static_cast<std::size_t>(status.st_size) == size_ && written_at(status) == written_)
    return {};
  return io_error("read", path_, "it was changed while it was being read");
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(written_, other.written_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    forget_mapping(data_);
    ::munmap(const_cast<std::byte*>(data_), size_);
  }
  if (descriptor_ >= 0) ::close(descriptor_);
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

Result<std::vector<std::string>> read_lines(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string> lines;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

Result<void> write_file(const std::string& path, std::string_view text) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.error();
  if (Result<void> written = file->write(text); !written) return written;
  return file->commit();
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
