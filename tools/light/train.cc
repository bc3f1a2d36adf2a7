// The commands that train. boba executes the program boba-train for them: only that program links
// LibTorch, because loading LibTorch takes longer than most other commands run.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tools/command.h"

namespace boba::tools {
namespace {

constexpr const char* kProgram = "boba-train";

// Becomes the other program; returns only where that fails.
Outcome hand_over(const std::vector<std::string>& names, const std::vector<std::string>& rest) {
  std::error_code failure;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) {
    return Failure{kFailed, "cannot find boba's own path: /proc/self/exe: " + failure.message()};
  }
  const std::filesystem::path program = self.parent_path() / kProgram;
  std::vector<std::string> words = {"boba"};
  words.insert(words.end(), names.begin(), names.end());
  words.insert(words.end(), rest.begin(), rest.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
  return Failure{kFailed, fmt::format("cannot start {}: {}; it must be in the same folder as boba",
                                      program.string(), std::strerror(errno))};
}

// names: of the command, after those of the commands it belongs to.
void add_handed_over(CLI::App& app, Outcome& outcome, const std::vector<std::string>& names,
                     const char* summary) {
  CLI::App* command = app.add_subcommand(names.back(), summary);
  command->prefix_command();
  command->set_help_flag("");
  command->callback(
      [command, names, &outcome] { outcome = hand_over(names, command->remaining()); });
}

}  // namespace

void add_demo(CLI::App& app, Outcome& outcome) {
  add_handed_over(app, outcome, {"demo"}, kDemoSummary);
}
void add_run(CLI::App& app, Outcome& outcome) {
  add_handed_over(app, outcome, {"run"}, kRunSummary);
}
void add_paper_run(CLI::App& paper, Outcome& outcome) {
  add_handed_over(paper, outcome, {"paper", "run"}, kPaperRunSummary);
}

}  // namespace boba::tools
