#include "reproduction/csv_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "boba/text/names.h"
#include "simulator/data/csv.h"

namespace boba::reproduction {

std::vector<std::string> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return parts;
}

Result<std::vector<std::vector<std::string>>> parse_csv(std::string_view text,
                                                        std::string_view origin,
                                                        std::span<const std::string_view> columns) {
  auto stream = sim::ByteStream::from_memory(
      std::string(origin), {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  const Error wrong_head =
      invalid_argument(fmt::format("{}:1: the columns must be: {}", origin, join(columns)));
  bool has_head = false;
  std::vector<std::vector<std::string>> rows;
  const auto take = [&](const sim::CsvRow& row) -> Result<void> {
    if (!has_head) {
      has_head = true;
      if (!std::ranges::equal(row.fields, columns)) return wrong_head;
      return {};
    }
    if (row.fields.size() != columns.size()) {
      return invalid_argument(fmt::format("{}:{}: {} cells; there are {} columns", origin, row.line,
                                          row.fields.size(), columns.size()));
    }
    rows.emplace_back(row.fields.begin(), row.fields.end());
    return {};
  };
  if (Result<void> read = sim::read_csv(stream, 0, take); !read) return read.error();
  if (!has_head) return wrong_head;
  return rows;
}

}  // namespace boba::reproduction
