#include "tests/support/tools_process.h"
#include "tests/support/paths.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace boba::test {
namespace {

// In the child: only what may be called between fork and exec.
[[noreturn]] void become(char* const* arguments, const char* folder, std::size_t data_limit,
                         int out, int err) {
  const int in = ::open("/dev/null", O_RDONLY);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  if (*folder != '\0' && ::chdir(folder) != 0) ::_exit(126);
  if (data_limit > 0) {
    const rlimit limit{data_limit, data_limit};
    if (::setrlimit(RLIMIT_DATA, &limit) != 0) ::_exit(126);
  }
  ::execvp(arguments[0], arguments);
  ::_exit(127);
}

int open_new(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) throw std::runtime_error("cannot create " + path);
  return file;
}

}  // namespace

Finished run_program(const std::vector<std::string>& command, const ProcessOptions& options) {
  const TemporaryFolder capture;
  const std::string out_path = capture / "out";
  const std::string err_path = capture / "err";
  const int out = open_new(out_path);
  const int err = open_new(err_path);
  std::vector<std::string> words = command;
  if (!options.path_prefix.empty()) {
    const char* path = std::getenv("PATH");
    const std::string joined = options.path_prefix + ":" + (path == nullptr ? "/bin" : path);
    words.insert(words.begin(), {"env", "PATH=" + joined});
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string folder = options.folder.string();
  const pid_t child = ::fork();
  if (child == 0) become(arguments.data(), folder.c_str(), options.data_limit, out, err);
  ::close(out);
  ::close(err);
  if (child < 0) throw std::runtime_error("cannot start " + command.front());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error("cannot wait for " + command.front());
  }
  Finished finished;
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.out = read_text(out_path);
  finished.err = read_text(err_path);
  return finished;
}

Finished run_boba(std::vector<std::string> arguments, const ProcessOptions& options) {
  arguments.insert(arguments.begin(), boba_program().string());
  return run_program(arguments, options);
}

std::filesystem::path boba_program() { return test::binary_dir() + "/bin/boba"; }

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "boba-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace boba::test
