#include "simulator/data/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace boba::sim {
namespace {

// A quote that is never closed would otherwise take the rest of the file into memory.
constexpr std::size_t kMostField = std::size_t{1} << 16;

class CsvParser {
 public:
  CsvParser(ByteStream& stream, std::size_t columns,
            const std::function<Result<void>(const CsvRow&)>& body)
      : stream_(stream),
        columns_(columns),
        body_(body),
        fields_(std::max<std::size_t>(columns, 1)) {}

  Result<void> run() {
    while (true) {
      const auto at_hand = stream_.peek();
      if (!at_hand) return at_hand.error();
      if (at_hand->empty()) return finish();
      const std::uint64_t base = stream_.offset();
      for (std::size_t i = 0; i < at_hand->size(); ++i) {
        offset_ = base + i;
        if (Result<void> done = take(static_cast<char>((*at_hand)[i])); !done) return done;
      }
      stream_.consume(at_hand->size());
    }
  }

 private:
  enum class State : std::uint8_t { kStart, kPlain, kQuoted, kClosed };

  Result<void> take(char c) {
    if (c == '\n') ++line_;
    if (state_ == State::kQuoted) {
      if (c != '"') return append(c);
      state_ = State::kClosed;
      return {};
    }
    if (after_return_ && c != '\n') return wrong("a carriage return without a line feed");
    switch (c) {
      case ',':
        return end_field();
      case '\n':
        after_return_ = false;
        return end_row();
      case '\r':
        after_return_ = true;
        return {};
      case '"':
        return quote();
      default:
        break;
    }
    if (state_ == State::kClosed) {
      return wrong("text after a closing quote; expected a comma or the end of the line");
    }
    begin_row();
    state_ = State::kPlain;
    return append(c);
  }

  // A quote outside of quotes: it opens a field, or the one before it was no end.
  Result<void> quote() {
    if (state_ == State::kPlain)
      return wrong("a quote inside a field that does not start with one");
    begin_row();
    if (state_ == State::kClosed) {
      if (Result<void> done = append('"'); !done) return done;
    } else {
      opened_ = offset_;
    }
    state_ = State::kQuoted;
    return {};
  }

  void begin_row() {
    if (in_row_) return;
    in_row_ = true;
    row_offset_ = offset_;
    row_line_ = line_;
  }

  Result<void> append(char c) {
    std::string& field = fields_[column_];
    if (field.size() == kMostField) {
      return wrong(fmt::format("a field of more than {} bytes{}", kMostField,
                               state_ == State::kQuoted ? opened() : ""));
    }
    field += c;
    return {};
  }

  Result<void> end_field() {
    begin_row();
    state_ = State::kStart;
    if (++column_ < fields_.size()) return {};
    if (columns_ == 0) {
      fields_.emplace_back();
      return {};
    }
    return wrong(fmt::format("row {} has extra data after {} fields", row_, columns_));
  }

  Result<void> end_row() {
    if (!in_row_) return {};
    if (columns_ != 0 && column_ + 1 != columns_) {
      return wrong(fmt::format("row {} has {} fields; expected {}", row_, column_ + 1, columns_));
    }
    const CsvRow row{.number = row_,
                     .line = row_line_,
                     .offset = row_offset_,
                     .fields = std::span(fields_).first(column_ + 1)};
    if (Result<void> done = body_(row); !done) return done;
    for (std::string& field : fields_) field.clear();
    ++row_;
    column_ = 0;
    in_row_ = false;
    state_ = State::kStart;
    return {};
  }

  Result<void> finish() {
    offset_ = stream_.offset();
    if (state_ == State::kQuoted)
      return wrong(fmt::format("the file ends inside quotes{}", opened()));
    return end_row();
  }

  std::string opened() const {
    return fmt::format("; the quote at byte {} is not closed", opened_);
  }
  Error wrong(std::string_view what) const { return stream_.error_at(offset_, what); }

  ByteStream& stream_;
  std::size_t columns_;
  const std::function<Result<void>(const CsvRow&)>& body_;
  std::vector<std::string> fields_;
  State state_ = State::kStart;
  bool after_return_ = false;
  bool in_row_ = false;
  std::size_t column_ = 0;
  std::size_t row_ = 1;
  std::size_t line_ = 1;
  std::size_t row_line_ = 1;
  std::uint64_t offset_ = 0;
  std::uint64_t row_offset_ = 0;
  std::uint64_t opened_ = 0;
};

}  // namespace

Result<void> read_csv(ByteStream& stream, std::size_t columns,
                      const std::function<Result<void>(const CsvRow&)>& body) {
  return CsvParser(stream, columns, body).run();
}

}  // namespace boba::sim
