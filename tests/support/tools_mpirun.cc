#include "tests/support/tools_mpirun.h"

#include <chrono>
#include <system_error>
#include <thread>

namespace boba::test {

Finished run_mpirun(const std::filesystem::path& folder, const std::vector<std::string>& rest) {
  // The last three lines keep it from looking for networks, and from a system call that containers
  // forbid.
  std::vector<std::string> command = {"env",
                                      "OMPI_ALLOW_RUN_AS_ROOT=1",
                                      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                      "OMPI_MCA_pml=ob1",
                                      "OMPI_MCA_btl=self,vader",
                                      "OMPI_MCA_btl_vader_single_copy_mechanism=none",
                                      "timeout",
                                      "--kill-after=5",
                                      "100",
                                      "mpirun",
                                      "--oversubscribe",
                                      "--timeout",
                                      "90"};
  command.insert(command.end(), rest.begin(), rest.end());
  return run_program(command, {.folder = folder});
}

Finished run_boba_on_ranks(const std::filesystem::path& folder, int ranks,
                           const std::vector<std::string>& arguments) {
  std::vector<std::string> rest = {"-n", std::to_string(ranks), boba_program().string()};
  rest.insert(rest.end(), arguments.begin(), arguments.end());
  return run_mpirun(folder, rest);
}

int processes_left_in(const std::filesystem::path& folder) {
  int left = 0;
  for (int attempt = 0; attempt < 50; ++attempt) {
    left = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::error_code failure;
      const auto where = std::filesystem::read_symlink(entry.path() / "cwd", failure);
      if (!failure && where == folder) ++left;
    }
    if (left == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return left;
}

}  // namespace boba::test
