#include "tools/sim/results_common.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <system_error>

namespace boba::tools {

void add_db_option(CLI::App& command, std::string& file) {
  command.add_option("--db", file, "the results database")
      ->type_name("FILE")
      ->capture_default_str();
}

Result<sim::Store> open_results(const std::string& file, std::string_view advice) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return Error{ErrorCode::kIo, fmt::format("there is no results database {}; {}", file, advice)};
  }
  return sim::Store::open(file, sim::OpenMode::kExisting);
}

std::string percent(std::optional<double> share) {
  if (!share || !std::isfinite(*share)) return "-";
  return fmt::format("{:.2f}", 100 * *share);
}

std::string exact(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return "";
  return fmt::format("{}", *value);
}

}  // namespace boba::tools
