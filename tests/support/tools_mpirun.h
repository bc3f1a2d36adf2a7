// Runs mpirun, bounded in time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/tools_process.h"

namespace boba::test {

// mpirun in the folder with what follows it, as {"-n", "2", "boba", "rules"}. More ranks than
// processors are fine; they talk through memory. It ends after a minute and a half at most.
Finished run_mpirun(const std::filesystem::path& folder, const std::vector<std::string>& rest);

// boba on that many ranks.
Finished run_boba_on_ranks(const std::filesystem::path& folder, int ranks,
                           const std::vector<std::string>& arguments);

// Processes whose working folder this is; waits a little for them to go.
int processes_left_in(const std::filesystem::path& folder);

}  // namespace boba::test
