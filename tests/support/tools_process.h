// Runs the boba program, or a shell line, and catches what it prints.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace boba::test {

struct Finished {
  int status = -1;  // exit status; 128 + signal where a signal ended it
  std::string out;
  std::string err;
};

struct ProcessOptions {
  std::filesystem::path folder{};  // to run in; empty: here
  std::size_t data_limit = 0;      // RLIMIT_DATA in bytes; 0: as it is
  std::string path_prefix{};       // put before PATH
};

Finished run_program(const std::vector<std::string>& command, const ProcessOptions& options = {});

// build/bin/boba with these arguments.
Finished run_boba(std::vector<std::string> arguments, const ProcessOptions& options = {});

std::filesystem::path boba_program();

// A folder of its own for a test, removed with all it holds.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> names() const;  // what is in it, sorted

 private:
  std::filesystem::path path_;
};

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace boba::test
