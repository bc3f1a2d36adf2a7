// CSV: no bytes may crash the parser, and rows written with quotes are read back as they were.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/stream.h"
#include "simulator/data/csv.h"

namespace {

using Rows = std::vector<std::vector<std::string>>;

boba::Result<Rows> rows_of(const std::uint8_t* data, std::size_t size) {
  boba::sim::ByteStream stream = fuzz_stream(data, size);
  Rows rows;
  const auto take = [&](const boba::sim::CsvRow& row) -> boba::Result<void> {
    require(row.fields.size() == 3, "every row has its fields");
    require(row.offset < size, "a row starts in the file");
    rows.emplace_back(row.fields.begin(), row.fields.end());
    return {};
  };
  if (boba::Result<void> read = boba::sim::read_csv(stream, 3, take); !read) return read.error();
  return rows;
}

std::string quoted(const std::string& field) {
  std::string text = "\"";
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const boba::Result<Rows> rows = rows_of(data, size);
  if (!rows) {
    check_error(rows.error(), size);
    return 0;
  }
  std::string written;
  for (const auto& row : *rows) {
    written += quoted(row[0]) + "," + quoted(row[1]) + "," + quoted(row[2]) + "\n";
  }
  const boba::Result<Rows> again =
      rows_of(reinterpret_cast<const std::uint8_t*>(written.data()), written.size());
  require(again.ok() && *again == *rows, "rows that were written are read back");
  return 0;
}
