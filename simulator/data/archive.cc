#include "simulator/data/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace boba::sim {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 17;

Error io_error(const std::filesystem::path& path, std::string_view what) {
  return {ErrorCode::kIo, fmt::format("{}: {}", path.string(), what)};
}

Error too_large(std::uint64_t most) {
  return {ErrorCode::kIo, fmt::format("it unpacks to more than {} bytes", most)};
}

enum class Packing : std::uint8_t { kNone, kGzip, kXz };

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kXzMagic(
    "\xfd"
    "7zXZ\0",
    6);

Result<Packing> packing_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return io_error(path, fmt::format("cannot open it: {}", std::strerror(errno)));
  std::array<char, 6> bytes{};
  file.read(bytes.data(), bytes.size());
  const std::string_view start(bytes.data(), static_cast<std::size_t>(file.gcount()));
  const std::string ending = path.extension().string();
  const auto mismatch = [&](std::string_view what) {
    return io_error(path, fmt::format("at byte 0: not the start of {}, as the name says", what));
  };
  if (start.starts_with(kGzipMagic)) return Packing::kGzip;
  if (ending == ".gz") return mismatch("gzip data, 1f 8b");
  if (start == kXzMagic) return Packing::kXz;
  if (ending == ".xz") return mismatch("xz data, fd 37 7a 58 5a 00");
  return Packing::kNone;
}

// Unpacks gzip for libarchive, whose own filter does not compare the checksum at the end.
class Gunzip {
 public:
  Gunzip(const std::filesystem::path& path, std::uint64_t most)
      : file_(gzopen(path.c_str(), "rb")), most_(most) {
    if (file_ != nullptr) gzbuffer(file_, kBlock);
  }
  ~Gunzip() {
    if (file_ != nullptr) gzclose(file_);
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  bool opened() const { return file_ != nullptr; }
  bool exceeded() const { return total_ > most_; }

  static la_ssize_t read(archive* to, void* self, const void** out) {
    auto* gunzip = static_cast<Gunzip*>(self);
    const Result<std::size_t> count = gunzip->next();
    *out = gunzip->block_.data();
    if (count) return static_cast<la_ssize_t>(*count);
    archive_set_error(to, EIO, "%s", count.error().message.c_str());
    return -1;
  }

  // Goes on to the end, where the checksum is.
  Result<void> finish() {
    while (true) {
      const Result<std::size_t> count = next();
      if (!count) return count.error();
      if (*count == 0) return {};
    }
  }

 private:
  // Fills the block.
  Result<std::size_t> next() {
    const int count = gzread(file_, block_.data(), static_cast<unsigned>(block_.size()));
    int status = Z_OK;
    const char* why = gzerror(file_, &status);
    // A file that ends too early is told with its last bytes, or after them.
    if (count < 0 || (count == 0 && status != Z_OK && status != Z_STREAM_END)) {
      const bool cut = status == Z_BUF_ERROR;
      return Error{ErrorCode::kIo, cut ? "the gzip data ends too early" : plain(why)};
    }
    total_ += static_cast<std::uint64_t>(count);
    if (total_ > most_) return too_large(most_);
    return static_cast<std::size_t>(count);
  }
  // zlib puts the file's name before what it says.
  static const char* plain(const char* why) {
    const char* colon = std::strrchr(why, ':');
    return colon == nullptr ? why : colon + 1 + (colon[1] == ' ');
  }

  gzFile file_;
  std::uint64_t most_;
  std::vector<unsigned char> block_ = std::vector<unsigned char>(kBlock);
  std::uint64_t total_ = 0;
};

// An open file or archive.
class Archive {
 public:
  explicit Archive(std::uint64_t most)
      : most_(most), handle_(archive_read_new(), &archive_read_free) {}

  // As one stream of bytes, or as an archive with members.
  Result<void> open(const std::filesystem::path& path, bool members) {
    if (handle_ == nullptr) return Error{ErrorCode::kInternal, "out of memory"};
    const Result<Packing> packing = packing_of(path);
    if (!packing) return packing.error();
    path_ = path;
    archive_read_support_filter_xz(get());
    archive_read_support_format_empty(get());
    if (members) {
      archive_read_support_format_tar(get());
      archive_read_support_format_zip(get());
    } else {
      archive_read_support_format_raw(get());
    }
    int status = ARCHIVE_OK;
    if (*packing == Packing::kGzip) {
      gunzip_ = std::make_unique<Gunzip>(path, most_);
      if (!gunzip_->opened()) return io_error(path, "cannot open it");
      status = archive_read_open(get(), gunzip_.get(), nullptr, &Gunzip::read, nullptr);
    } else {
      status = archive_read_open_filename(get(), path.c_str(), kBlock);
    }
    if (status != ARCHIVE_OK) return trouble();
    return {};
  }

  // The next regular file; null at the end.
  Result<archive_entry*> next() {
    archive_entry* entry = nullptr;
    while (true) {
      const int status = archive_read_next_header(get(), &entry);
      if (status == ARCHIVE_EOF) return static_cast<archive_entry*>(nullptr);
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return trouble();
      if (Result<void> sound = check_size(); !sound) return io_error(path_, sound.error().message);
      if (archive_entry_filetype(entry) == AE_IFREG) return entry;
    }
  }

  // What lies behind the members that were read is not damaged either, as far as checksums tell.
  Result<void> finish() {
    if (gunzip_ == nullptr) return {};
    const Result<void> finished = gunzip_->finish();
    return finished ? finished : io_error(path_, "damaged: " + finished.error().message);
  }

  ByteStream::Fill fill() {
    return [this](std::span<std::uint8_t> out) -> Result<std::size_t> {
      const la_ssize_t count = archive_read_data(get(), out.data(), out.size());
      if (count < 0) return Error{ErrorCode::kIo, reason()};
      given_ += static_cast<std::uint64_t>(count);
      if (Result<void> sound = check_size(); !sound) return sound.error();
      return static_cast<std::size_t>(count);
    };
  }

 private:
  archive* get() const { return handle_.get(); }
  std::string reason() const {
    // Where libarchive passes over a member it has words of its own for this.
    if (gunzip_ != nullptr && gunzip_->exceeded()) return too_large(most_).message;
    const char* text = archive_error_string(get());
    return text == nullptr ? "it cannot be unpacked" : fmt::format("damaged: {}", text);
  }
  Error trouble() const { return io_error(path_, reason()); }
  // Of the stream around the members, and of the members, which a zip packs one by one.
  Result<void> check_size() const {
    const auto passed =
        static_cast<std::uint64_t>(std::max<la_int64_t>(0, archive_filter_bytes(get(), 0)));
    if (given_ > most_ || passed > most_) return too_large(most_);
    return {};
  }

  std::uint64_t most_;
  std::uint64_t given_ = 0;

  // Declared before the handle, which reads from it until it is freed.
  std::unique_ptr<Gunzip> gunzip_;
  std::unique_ptr<archive, decltype(&archive_read_free)> handle_;
  std::filesystem::path path_;
};

Result<void> read_single(const StoredFile& file, std::size_t index, const ReadBody& body,
                         std::uint64_t most) {
  Archive from(most);
  if (Result<void> opened = from.open(file.path, false); !opened) return opened;
  const Result<archive_entry*> entry = from.next();
  if (!entry) return entry.error();
  ByteStream stream(file.name(),
                    *entry == nullptr
                        ? [](std::span<std::uint8_t>) { return Result<std::size_t>(0); }
                        : from.fill());
  if (const auto size = unpacked_size(file.path)) stream.set_size(*size);
  return body(index, stream);
}

std::string_view last_component(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == name.npos ? name : name.substr(slash + 1);
}

// The members of one archive, given by their places in files.
Result<void> read_members(std::span<const StoredFile> files, std::vector<std::size_t> wanted,
                          const ReadBody& body, std::uint64_t most) {
  const std::filesystem::path& path = files[wanted.front()].path;
  Archive from(most);
  if (Result<void> opened = from.open(path, true); !opened) return opened;
  while (!wanted.empty()) {
    const Result<archive_entry*> entry = from.next();
    if (!entry) return entry.error();
    if (*entry == nullptr) {
      return io_error(path, fmt::format("it has no member {}", files[wanted.front()].member));
    }
    const char* name = archive_entry_pathname(*entry);
    const auto match = std::find_if(wanted.begin(), wanted.end(), [&](std::size_t i) {
      return name != nullptr && last_component(name) == files[i].member;
    });
    if (match == wanted.end()) continue;
    const std::size_t index = *match;
    wanted.erase(match);
    ByteStream stream(files[index].name(), from.fill());
    if (archive_entry_size_is_set(*entry) != 0) {
      stream.set_size(static_cast<std::uint64_t>(archive_entry_size(*entry)));
    }
    if (Result<void> done = body(index, stream); !done) return done;
  }
  return from.finish();
}

// Places in files that one pass reads together.
std::vector<std::vector<std::size_t>> passes_of(std::span<const StoredFile> files) {
  std::vector<std::vector<std::size_t>> passes;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto same = std::find_if(passes.begin(), passes.end(), [&](const auto& pass) {
      const StoredFile& first = files[pass.front()];
      return !files[i].member.empty() && !first.member.empty() && first.path == files[i].path;
    });
    if (same == passes.end()) {
      passes.push_back({i});
    } else {
      same->push_back(i);
    }
  }
  return passes;
}

// .gz and .xz files state their sizes at their ends, for counting examples without unpacking.
constexpr std::uint64_t kFooter = 12;          // of an .xz stream
constexpr std::uint64_t kMostIndex = 1 << 20;  // bytes; one block has about ten
constexpr std::uint64_t kMostSize = 1ULL << 40;

std::vector<std::uint8_t> bytes_at(std::ifstream& file, std::uint64_t offset, std::uint64_t count) {
  std::vector<std::uint8_t> bytes(count);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
  if (!file) bytes.clear();
  return bytes;
}

std::uint32_t little_endian(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8 |
         static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
}

// A number in groups of seven bits, the lowest first.
std::optional<std::uint64_t> variable_number(const std::vector<std::uint8_t>& bytes,
                                             std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 63 && at < bytes.size(); shift += 7) {
    const std::uint8_t byte = bytes[at++];
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

// The index before the footer lists packed and unpacked size of each block.
std::optional<std::uint64_t> xz_size(std::ifstream& file, std::uint64_t length) {
  if (length < 2 * kFooter) return std::nullopt;
  const std::vector<std::uint8_t> footer = bytes_at(file, length - kFooter, kFooter);
  if (footer.empty() || footer[10] != 'Y' || footer[11] != 'Z') return std::nullopt;
  const std::uint64_t size = (std::uint64_t{little_endian(&footer[4])} + 1) * 4;
  if (size > kMostIndex || size > length - 2 * kFooter) return std::nullopt;
  const std::vector<std::uint8_t> index = bytes_at(file, length - kFooter - size, size);
  if (index.empty() || index[0] != 0) return std::nullopt;
  std::size_t at = 1;
  const auto blocks = variable_number(index, at);
  if (!blocks || *blocks > size) return std::nullopt;
  std::uint64_t total = 0;
  std::uint64_t packed = kFooter + size + kFooter;
  for (std::uint64_t i = 0; i < *blocks; ++i) {
    const auto block = variable_number(index, at);
    const auto unpacked = variable_number(index, at);
    if (!block || !unpacked || *block > kMostSize || *unpacked > kMostSize) return std::nullopt;
    packed += (*block + 3) / 4 * 4;
    total += *unpacked;
    if (total > kMostSize) return std::nullopt;
  }
  // More bytes than this stream has: there are several, whose sizes would have to be added.
  if (packed != length) return std::nullopt;
  return total;
}

}  // namespace

std::string StoredFile::name() const {
  return member.empty() ? path.string() : path.string() + ": " + member;
}

Result<void> read_files(std::span<const StoredFile> files, const ReadBody& body, int threads,
                        std::uint64_t most_unpacked) {
  const std::vector<std::vector<std::size_t>> passes = passes_of(files);
  std::vector<Result<void>> results(passes.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (std::size_t i = next++; i < passes.size() && !failed; i = next++) {
      const StoredFile& first = files[passes[i].front()];
      // Nothing may leave a thread of ours; what can be thrown here is for want of memory.
      try {
        results[i] = first.member.empty()
                         ? read_single(first, passes[i].front(), body, most_unpacked)
                         : read_members(files, passes[i], body, most_unpacked);
      } catch (const std::exception& error) {
        results[i] = Error{ErrorCode::kInternal, fmt::format("{}: {}", first.name(), error.what())};
      }
      if (!results[i]) failed = true;
    }
  };
  std::vector<std::jthread> workers;
  const auto helpers = std::min<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)) - 1,
                                             passes.empty() ? 0 : passes.size() - 1);
  for (std::size_t i = 0; i < helpers; ++i) workers.emplace_back(work);
  work();
  workers.clear();
  for (Result<void>& result : results) {
    if (!result) return std::move(result);
  }
  return {};
}

std::optional<std::uint64_t> unpacked_size(const std::filesystem::path& path) {
  std::error_code trouble;
  const std::uint64_t length = std::filesystem::file_size(path, trouble);
  if (trouble) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const std::vector<std::uint8_t> start = bytes_at(file, 0, length < 6 ? length : 6);
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.starts_with("\x1f\x8b")) {
    if (length < 18) return std::nullopt;
    const std::vector<std::uint8_t> end = bytes_at(file, length - 4, 4);
    if (end.empty()) return std::nullopt;
    return little_endian(end.data());
  }
  if (text.starts_with("\xfd"
                       "7zXZ"))
    return xz_size(file, length);
  return length;
}

}  // namespace boba::sim
