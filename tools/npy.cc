#include "tools/npy.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <optional>

namespace boba::tools {
namespace {

// NumPy writes about a hundred bytes for an array of numbers and itself refuses above 10,000.
constexpr std::size_t kLongestHeader = 65536;

// Text of a file, fit to be printed in an error.
std::string quoted(std::string_view text) {
  std::string shown;
  for (char c : text.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
  return fmt::format("'{}{}'", shown, text.size() > 40 ? "..." : "");
}

struct Header {
  std::string_view descr;
  bool fortran = false;
  std::vector<std::size_t> shape;
};

// Reads the dictionary: the three keys in any order, each once.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Result<Header> read() {
    if (!take('{')) return expected("{ of a dictionary");
    Header header;
    while (!take('}')) {
      const std::optional<std::string_view> key = string();
      if (!key) return expected("a key in quotes");
      if (!take(':')) return expected(": after a key");
      Result<void> value = read_value(*key, header);
      if (!value) return value.error();
      if (!take(',') && !at('}')) return expected(", or }");
    }
    skip_space();
    if (at_ != text_.size()) return expected("the end of the header");
    if (!has_descr_ || !has_order_ || !has_shape_) {
      return wrong("its header lacks one of 'descr', 'fortran_order', 'shape'");
    }
    return header;
  }

 private:
  Result<void> read_value(std::string_view key, Header& header) {
    if (key == "descr" && !has_descr_) {
      has_descr_ = true;
      if (at('[')) return wrong("it holds records; expected float32 ('<f4') or float64 ('<f8')");
      const std::optional<std::string_view> descr = string();
      if (!descr) return expected("a type in quotes");
      header.descr = *descr;
      return {};
    }
    if (key == "fortran_order" && !has_order_) {
      has_order_ = true;
      header.fortran = word("True");
      if (!header.fortran && !word("False")) return expected("True or False");
      return {};
    }
    if (key == "shape" && !has_shape_) {
      has_shape_ = true;
      return read_shape(header.shape);
    }
    return wrong(fmt::format("its header has an unknown or repeated key {}", quoted(key)));
  }

  Result<void> read_shape(std::vector<std::size_t>& shape) {
    if (!take('(')) return expected("( of a shape");
    while (!take(')')) {
      std::size_t value = 0;
      if (!digit()) return expected("a whole number");
      for (; digit(); ++at_) {
        if (__builtin_mul_overflow(value, std::size_t{10}, &value) ||
            __builtin_add_overflow(value, static_cast<std::size_t>(text_[at_] - '0'), &value)) {
          return wrong("a number of its shape does not fit in 64 bits");
        }
      }
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote 3L
      if (shape.size() == 32) return wrong("its shape has more than 32 dimensions");
      shape.push_back(value);
      if (!take(',') && !at(')')) return expected(", or )");
    }
    return {};
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool at(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }
  bool digit() { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  bool word(std::string_view expected_word) {
    skip_space();
    if (!text_.substr(at_).starts_with(expected_word)) return false;
    at_ += expected_word.size();
    return true;
  }
  std::optional<std::string_view> string() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return content;
  }

  Error wrong(std::string_view what) const {
    return {ErrorCode::kIo, fmt::format("{}: {}", name_, what)};
  }
  Error expected(std::string_view what) const {
    if (at_ >= text_.size()) return wrong(fmt::format("its header ends where {} belongs", what));
    return wrong(
        fmt::format("its header has {} where {} belongs", quoted(text_.substr(at_, 12)), what));
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

// The dictionary's text and where the data begins.
struct Frame {
  std::string_view text;
  std::size_t data_offset = 0;
};

Result<Frame> find_header(std::string_view file, std::string_view name) {
  const auto wrong = [&](std::string_view what) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", name, what)};
  };
  if (file.empty()) return wrong("the file is empty; expected a NumPy file (.npy)");
  if (!file.starts_with("\x93NUMPY")) {
    return wrong(fmt::format("not a NumPy file: it begins with {}, expected '\\x93NUMPY'",
                             quoted(file.substr(0, 6))));
  }
  if (file.size() < 10) return wrong("the file ends inside its header");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(file[i]));
  };
  const std::size_t major = byte(6);
  const std::size_t minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    return wrong(fmt::format("NumPy format version {}.{}; expected 1.0, 2.0 or 3.0", major, minor));
  }
  const std::size_t begin = major == 1 ? 10 : 12;
  if (file.size() < begin) return wrong("the file ends inside its header");
  std::size_t size = byte(8) | byte(9) << 8;
  if (major > 1) size |= byte(10) << 16 | byte(11) << 24;
  if (size > kLongestHeader) {
    return wrong(
        fmt::format("its header claims {} bytes; at most {} are read", size, kLongestHeader));
  }
  if (file.size() - begin < size) {
    return wrong(fmt::format("its header claims {} bytes, but the file ends after {}", size,
                             file.size() - begin));
  }
  return Frame{file.substr(begin, size), begin + size};
}

Result<DType> read_dtype(std::string_view descr, std::string_view name) {
  if (descr == "<f4") return DType::kFloat32;
  if (descr == "<f8") return DType::kFloat64;
  const char* hint = descr == ">f4" || descr == ">f8" ? " (big-endian)" : "";
  return Error{ErrorCode::kIo,
               fmt::format("{}: elements are {}{}; expected float32 ('<f4') or float64 ('<f8')",
                           name, quoted(descr), hint)};
}

static_assert(std::endian::native == std::endian::little, "rows are mapped, never byte-swapped");

template <Element T>
RowList table_of(const NpyLayout& layout, std::span<const std::byte> file) {
  const T* data = reinterpret_cast<const T*>(file.data() + layout.data_offset);
  std::vector<const T*> rows(layout.rows);
  for (std::size_t i = 0; i < layout.rows; ++i) rows[i] = data + i * layout.length;
  return RowList(UpdateView(std::span<const T* const>(rows), layout.length));
}

}  // namespace

Result<NpyLayout> parse_npy(std::span<const std::byte> file, std::string_view name) {
  const auto wrong = [&](std::string_view what) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", name, what)};
  };
  Result<Frame> frame =
      find_header({reinterpret_cast<const char*>(file.data()), file.size()}, name);
  if (!frame) return frame.error();
  Result<Header> header = HeaderReader(frame->text, name).read();
  if (!header) return header.error();
  Result<DType> dtype = read_dtype(header->descr, name);
  if (!dtype) return dtype.error();
  if (header->fortran) {
    return wrong("the array is in Fortran order; expected C order (numpy.ascontiguousarray)");
  }
  const std::vector<std::size_t>& shape = header->shape;
  if (shape.empty() || shape.size() > 2) {
    return wrong(fmt::format("the array is {}-dimensional; expected 2 dimensions, a row per update",
                             shape.size()));
  }
  NpyLayout layout{*dtype, shape.size() == 2 ? shape[0] : 1, shape.back(), frame->data_offset};
  // Rows of no length would let a small file claim any number of rows.
  if (layout.length == 0) return wrong("its rows have length 0");
  const std::size_t element = *dtype == DType::kFloat32 ? sizeof(float) : sizeof(double);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(layout.rows, layout.length, &bytes) ||
      __builtin_mul_overflow(bytes, element, &bytes)) {
    return wrong(fmt::format("its shape ({}, {}) is more than 64 bits can count", layout.rows,
                             layout.length));
  }
  const std::size_t present = file.size() - layout.data_offset;
  if (present != bytes) {
    return wrong(fmt::format("its shape ({}, {}) needs {} bytes of data, the file has {}: it is {}",
                             layout.rows, layout.length, bytes, present,
                             present < bytes ? "cut short" : "too long"));
  }
  if (layout.data_offset % element != 0) {
    return wrong(fmt::format("its data begins at byte {}; expected a multiple of {}",
                             layout.data_offset, element));
  }
  return layout;
}

std::string npy_header(DType dtype, std::size_t rows, std::size_t length) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                 dtype == DType::kFloat32 ? "<f4" : "<f8", rows, length);
  // Magic, version and length take 10 bytes; the data begins at a multiple of 64.
  const std::size_t unpadded = 10 + dict.size() + 1;
  dict.append((64 - unpadded % 64) % 64, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

Result<NpyFile> NpyFile::open(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  Result<NpyLayout> layout = parse_npy(file->bytes(), path);
  if (!layout) return layout.error();
  RowList table =
      visit(layout->dtype, [&]<Element T>(T) { return table_of<T>(*layout, file->bytes()); });
  return NpyFile(*std::move(file), std::move(table));
}

Result<void> write_npy(OutputFile& file, const UpdateView& rows) {
  const std::string header = npy_header(rows.dtype(), rows.rows(), rows.length());
  Result<void> written = file.write(header);
  return visit(rows.dtype(), [&]<Element T>(T) {
    for (std::size_t i = 0; written && i < rows.rows(); ++i) {
      written = file.write(std::as_bytes(std::span(rows.row<T>(i), rows.length())));
    }
    return written;
  });
}

Result<void> write_npy(const std::string& path, const UpdateView& rows) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.error();
  if (Result<void> written = write_npy(*file, rows); !written) return written;
  return file->commit();
}

}  // namespace boba::tools
