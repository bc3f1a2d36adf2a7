// Comma-separated values.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/data/csv.h"
#include "tests/support/data_files.h"

namespace boba::test {
using namespace sim;  // NOLINT
namespace {

using Rows = std::vector<std::vector<std::string>>;

// The rows, or one row with the error.
Rows rows_of(const std::string& text, std::size_t columns = 3) {
  const std::vector<std::uint8_t> bytes = bytes_of(text);
  ByteStream stream = ByteStream::from_memory("x", bytes);
  Rows rows;
  const Result<void> read = read_csv(stream, columns, [&](const CsvRow& row) -> Result<void> {
    EXPECT_EQ(row.number, rows.size() + 1);
    rows.emplace_back(row.fields.begin(), row.fields.end());
    return {};
  });
  return read ? rows : Rows{{read.error().message}};
}

TEST(Csv, QuotesCommasAndLines) {
  EXPECT_EQ(rows_of("\"1\",\"a, b\",\"c\"\"d\"\"\"\n2,plain,\"two\nlines\"\n"),
            (Rows{{"1", "a, b", "c\"d\""}, {"2", "plain", "two\nlines"}}));
}

TEST(Csv, ABackslashMeansNothing) {
  EXPECT_EQ(rows_of(R"("1","a\b","\\""c\")"), (Rows{{"1", "a\\b", "\\\\\"c\\"}}));
}

TEST(Csv, EndsOfLinesAndOfTheFile) {
  const Rows expected{{"1", "a", "b"}, {"2", "", ""}};
  EXPECT_EQ(rows_of("1,a,b\n2,,\n"), expected);
  EXPECT_EQ(rows_of("1,a,b\r\n2,,\r\n"), expected);
  EXPECT_EQ(rows_of("1,a,b\n2,,"), expected);
  EXPECT_EQ(rows_of("\n1,a,b\n\n\n2,\"\",\"\"\n\n"), expected);
  EXPECT_EQ(rows_of(""), Rows());
}

TEST(Csv, RowsOfAnyLengthHaveTheirLine) {
  const std::vector<std::uint8_t> bytes = bytes_of("a\n1,\"two\nlines\",3\n\n4,5\n");
  ByteStream stream = ByteStream::from_memory("x", bytes);
  Rows rows;
  std::vector<std::size_t> lines;
  const Result<void> read = read_csv(stream, 0, [&](const CsvRow& row) -> Result<void> {
    rows.emplace_back(row.fields.begin(), row.fields.end());
    lines.push_back(row.line);
    return {};
  });
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(rows, (Rows{{"a"}, {"1", "two\nlines", "3"}, {"4", "5"}}));
  EXPECT_EQ(lines, (std::vector<std::size_t>{1, 2, 5}));
}

TEST(Csv, FieldsAcrossBuffers) {
  // Longer than what is read at a time, so that every state is met at a border.
  std::string text;
  Rows expected;
  for (int i = 0; i < 20000; ++i) {
    const std::string number = std::to_string(i);
    text += "\"" + number + "\",\"a\"\"" + number + "\",x\r\n";
    expected.push_back({number, "a\"" + number, "x"});
  }
  EXPECT_EQ(rows_of(text), expected);
}

TEST(Csv, DamageIsToldWithItsPlace) {
  const auto message = [](const std::string& text) { return rows_of(text).at(0).at(0); };
  EXPECT_EQ(message("1,a,b\n2,a\n"), "x: at byte 9: row 2 has 2 fields; expected 3");
  EXPECT_EQ(message("1,a,b,c\n"), "x: at byte 5: row 1 has extra data after 3 fields");
  EXPECT_EQ(message("1,\"a\"b,c\n"),
            "x: at byte 5: text after a closing quote; expected a comma or the end of the line");
  EXPECT_EQ(message("1,a\"b,c\n"),
            "x: at byte 3: a quote inside a field that does not start with one");
  EXPECT_EQ(message("1,a,\"b\n2,c,d\n"),
            "x: at byte 13: the file ends inside quotes; the quote at byte 4 is not closed");
  EXPECT_EQ(message("1,a\rb,c\n"), "x: at byte 4: a carriage return without a line feed");
  EXPECT_EQ(
      message("1,\"" + std::string(70000, 'a')),
      "x: at byte 65539: a field of more than 65536 bytes; the quote at byte 2 is not closed");
}

TEST(Csv, TheBodysErrorEndsIt) {
  const std::vector<std::uint8_t> bytes = bytes_of("1,2\n3,4\n");
  ByteStream stream = ByteStream::from_memory("x", bytes);
  int calls = 0;
  const Result<void> read = read_csv(stream, 2, [&](const CsvRow& row) -> Result<void> {
    ++calls;
    return stream.error_at(row.offset, "no");
  });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "x: at byte 0: no");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace boba::test
