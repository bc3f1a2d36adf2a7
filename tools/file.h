// Files: input mapped into memory, output that appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"

namespace boba::tools {

// A file's bytes, read-only and paged in on demand, so that a file larger than memory works. Where
// the file becomes shorter and a missing page is read, the program ends with a sentence and the
// status 1; see unchanged() for the rest.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);

  // An error where somebody has written to the file since it was opened: what was read may be of
  // two versions.
  Result<void> unchanged() const;

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile() = default;

  std::string path_;
  int descriptor_ = -1;
  std::int64_t written_ = 0;  // when, in nanoseconds
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// A file being written under another name in the same folder; commit() gives it its own once its
// bytes are on the disk, so that a power cut leaves the old file or the new one. Without
// commit nothing is left behind, and a file that was there before stays as it was. Devices,
// pipes and the program's own standard output are written directly.
class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> write(std::string_view text);
  // Makes the file so many bytes long, zeros after what was written.
  Result<void> extend(std::size_t bytes);
  Result<void> commit();

  // Where the bytes are until then; empty: they are written directly.
  const std::string& temporary() const { return temporary_; }

 private:
  OutputFile(std::string path, std::string target, std::string temporary, int descriptor);

  std::string path_;       // as the user wrote it
  std::string target_;     // with links followed
  std::string temporary_;  // empty: written directly
  int descriptor_ = -1;
};

// The lines of a text file, without their ends.
Result<std::vector<std::string>> read_lines(const std::string& path);

// A whole file.
Result<void> write_file(const std::string& path, std::string_view text);

// Whether a file could be created there, asked before a long computation rather than after it.
Result<void> check_writable(const std::string& path);

// Whether OutputFile would write there directly: a device, a pipe, the program's standard output.
bool written_directly(const std::string& path);

}  // namespace boba::tools
