// boba results import: the runs of another database.
#pragma once

#include "tools/command.h"

namespace boba::tools {

void add_results_import(CLI::App& results, Outcome& outcome);

}  // namespace boba::tools
