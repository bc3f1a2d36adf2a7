// Who holds which labels, as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulator/store/records.h"

namespace boba::tools {

// A line per client, the classes in columns; of many clients the first ones. run: where the rest
// can be seen; 0: nowhere.
std::string label_table_text(std::span<const sim::ClientRecord> clients,
                             std::span<const std::string> classes, const std::string& partition,
                             std::int64_t run);

}  // namespace boba::tools
