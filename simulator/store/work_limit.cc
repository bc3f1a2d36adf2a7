#include "simulator/store/work_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "boba/text/printable.h"

namespace boba::sim::store {
namespace {

// Measured on sound files: 0.6 steps and 2.1 bytes for each byte of the file, read once whole.
constexpr std::int64_t kFreeSteps = 50'000'000;
constexpr std::int64_t kStepsPerByte = 32;
constexpr std::int64_t kFreeBytes = 64'000'000;
constexpr std::int64_t kBytesPerByte = 16;
constexpr std::int64_t kMostCounted = 4'000'000'000;  // a file with holes can be of any size

std::int64_t size_of(const std::filesystem::path& file) {
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(file, missing);
  return missing ? 0 : static_cast<std::int64_t>(std::min<std::uintmax_t>(size, kMostCounted));
}

}  // namespace

void WorkLimit::start(std::vector<std::filesystem::path> files, bool each_statement) {
  files_ = std::move(files);
  each_statement_ = each_statement;
  refill();
}

void WorkLimit::begin_statement() {
  if (each_statement_) refill();
}

void WorkLimit::refill() {
  size_ = 0;
  for (const std::filesystem::path& file : files_) {
    size_ += size_of(file) + size_of(file.string() + "-wal");
  }
  size_ = std::min(size_, kMostCounted);
  steps_left_ = kFreeSteps + kStepsPerByte * size_;
  bytes_left_ = kFreeBytes + kBytesPerByte * size_;
}

Error WorkLimit::error() const {
  const std::string what =
      bytes_left_ < 0 ? fmt::format("it gives more than {} MB of data",
                                    (kFreeBytes + kBytesPerByte * size_) / 1'000'000)
                      : fmt::format("reading it takes more than {} million steps of SQLite",
                                    (kFreeSteps + kStepsPerByte * size_) / 1'000'000);
  return {ErrorCode::kIo,
          printable(fmt::format(
              "{}: {}, the limit for {} kB; the file is damaged or made to keep its reader busy. "
              "'PRAGMA integrity_check' in the sqlite3 program shows damage; if it does, get the "
              "file again from the machine that wrote it",
              file_, what, (size_ + 999) / 1000))};
}

}  // namespace boba::sim::store
