#include "simulator/store/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>

#include "boba/files/durable.h"

namespace boba::sim {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

using Json = nlohmann::ordered_json;

constexpr std::size_t kPrefix = 8;
constexpr std::string_view kMetadata = "__metadata__";

// The number of elements; none if an extent is negative or the number exceeds 2^60.
std::optional<std::uint64_t> size_of(const std::vector<std::int64_t>& shape) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  std::uint64_t size = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) empty = true;
    if (!empty && static_cast<std::uint64_t>(extent) > kMost / size) return std::nullopt;
    if (!empty) size *= static_cast<std::uint64_t>(extent);
  }
  return empty ? 0 : size;
}

// Checks the conditions of to_safetensors.
Result<void> check(const TensorFile& file) {
  std::set<std::string_view> names;
  for (const NamedTensor& tensor : file.tensors) {
    if (tensor.name == kMetadata || !names.insert(tensor.name).second) {
      return invalid_argument(fmt::format("the tensor name '{}' is {}", tensor.name,
                                          tensor.name == kMetadata ? "reserved" : "given twice"));
    }
    const auto size = size_of(tensor.shape);
    if (!size || *size != tensor.values.size()) {
      return invalid_argument(fmt::format("tensor '{}' has {} values; its shape [{}] asks for {}",
                                          tensor.name, tensor.values.size(),
                                          fmt::join(tensor.shape, ","),
                                          size ? std::to_string(*size) : "too many"));
    }
  }
  return {};
}

std::string header_of(const TensorFile& file) {
  Json header = Json::object();
  if (!file.metadata.empty()) header[std::string(kMetadata)] = file.metadata;
  std::uint64_t offset = 0;
  for (const NamedTensor& tensor : file.tensors) {
    const std::uint64_t end = offset + tensor.values.size() * sizeof(float);
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

Error error_at(const std::filesystem::path& path, std::string_view operation) {
  return {ErrorCode::kIo,
          fmt::format("cannot {} {}: {}", operation, path.string(), std::strerror(errno))};
}

Result<void> write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error_at(path, "write");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return sync_file(descriptor) ? Result<void>() : error_at(path, "write");
}

// The reader checks every entry of the header before it uses it.
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLongestHeader = 100'000'000;  // as the format's own reader has it
constexpr int kDeepest = 3;                            // the file, a tensor, its shape

// A tensor as the header has it.
struct Entry {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Error wrong(std::string message) {
  return {ErrorCode::kIo, "not a safetensors file: " + std::move(message)};
}

Error wrong_entry(const std::string& name, std::string_view message) {
  return wrong(fmt::format("header: tensor '{}': {}", name, message));
}

Result<std::string_view> header_text(std::string_view bytes) {
  if (bytes.size() < kPrefix) {
    return wrong(fmt::format("byte 0: expected 8 bytes with the header's length, found {} bytes",
                             bytes.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kPrefix);
  if (length > kLongestHeader || length > bytes.size() - kPrefix) {
    return wrong(fmt::format("byte 0: the header's length is {}, but {}", length,
                             length > kLongestHeader
                                 ? fmt::format("at most {} are allowed", kLongestHeader)
                                 : fmt::format("{} bytes follow", bytes.size() - kPrefix)));
  }
  const std::string_view header = bytes.substr(kPrefix, length);
  if (!header.starts_with('{')) return wrong("byte 8: expected '{', the header's first byte");
  return header;
}

// JSON libraries keep one of two equal keys without a word, and nest as deep as they are asked.
Result<Json> parse_header(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  std::string fault;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    const auto level = static_cast<std::size_t>(depth);
    if (depth >= kDeepest && (event == Event::object_start || event == Event::array_start)) {
      if (fault.empty()) fault = "header: nested too deep";
      return false;
    }
    if (event == Event::object_start) {
      keys.resize(level + 2);
      keys[level + 1].clear();
    }
    // Below an object that is too deep there are keys without a set.
    if (event == Event::key && level < keys.size() &&
        !keys[level].insert(parsed.get<std::string>()).second) {
      fault = fmt::format("header: the name '{}' comes twice", parsed.get<std::string>());
    }
    return true;
  };
  try {
    Json header = Json::parse(text, watch);
    if (!fault.empty()) return wrong(fault);
    if (!header.is_object()) return wrong("byte 8: expected a JSON object");
    return header;
  } catch (const Json::parse_error& error) {
    return wrong(fmt::format("byte {}: the header is not valid JSON", kPrefix + error.byte - 1));
  } catch (const Json::exception& error) {
    return wrong(fmt::format("the header is not valid JSON: {}", error.what()));
  }
}

Result<std::map<std::string, std::string>> read_metadata(const Json& json) {
  std::map<std::string, std::string> metadata;
  if (!json.is_object()) return wrong("header: __metadata__ should be an object of texts");
  for (const auto& item : json.items()) {
    if (!item.value().is_string()) {
      return wrong(fmt::format("header: __metadata__: '{}' should be a text", item.key()));
    }
    metadata[item.key()] = item.value().get<std::string>();
  }
  return metadata;
}

// A list of numbers from 0 to 2^63 - 1.
std::optional<std::vector<std::int64_t>> read_extents(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  std::vector<std::int64_t> extents;
  for (const Json& value : json) {
    constexpr auto kMost = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost) return std::nullopt;
    extents.push_back(value.get<std::int64_t>());
  }
  return extents;
}

bool holds(const Entry& entry) {
  // A factor of 0 makes the product 0, even if the other factors overflow.
  if (std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end()) {
    return entry.begin == entry.end;
  }
  std::uint64_t left = entry.end - entry.begin;
  if (left % sizeof(float) != 0) return false;
  left /= sizeof(float);
  for (const std::int64_t extent : entry.shape) {
    const auto factor = static_cast<std::uint64_t>(extent);
    if (left % factor != 0) return false;
    left /= factor;
  }
  return left == 1;
}

Result<Entry> read_entry(const std::string& name, const Json& json, std::uint64_t size) {
  if (!json.is_object()) return wrong_entry(name, "expected an object");
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!json.contains(key)) return wrong_entry(name, fmt::format("it has no {}", key));
  }
  if (json["dtype"] != "F32") {
    return wrong_entry(name, fmt::format("its dtype is {}; only \"F32\" is read",
                                         json["dtype"].dump(-1, ' ', true)));
  }
  const auto shape = read_extents(json["shape"]);
  if (!shape) return wrong_entry(name, "its shape is not a list of sizes");
  const auto offsets = read_extents(json["data_offsets"]);
  if (!offsets || offsets->size() != 2) {
    return wrong_entry(name, "its data_offsets are not a pair of positions");
  }
  Entry entry{name, *shape, static_cast<std::uint64_t>((*offsets)[0]),
              static_cast<std::uint64_t>((*offsets)[1])};
  if (entry.begin > entry.end || entry.end > size) {
    return wrong_entry(name, fmt::format("data_offsets [{},{}] are outside the {} bytes of numbers",
                                         entry.begin, entry.end, size));
  }
  if (!holds(entry)) {
    return wrong_entry(name, fmt::format("data_offsets [{},{}] do not fit the shape [{}] of F32",
                                         entry.begin, entry.end, fmt::join(entry.shape, ",")));
  }
  return entry;
}

// Every byte belongs to one tensor.
Result<void> check_cover(const std::vector<Entry>& entries, std::uint64_t size) {
  std::uint64_t reached = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != reached) {
      return wrong_entry(entry.name, fmt::format("it begins at {}; expected {}, where the one "
                                                 "before ends",
                                                 entry.begin, reached));
    }
    reached = entry.end;
  }
  if (reached == size) return {};
  return wrong(fmt::format("the tensors end at {} of {} bytes of numbers", reached, size));
}

}  // namespace

std::string to_safetensors(const TensorFile& file) {
  assert(check(file));
  const std::string header = header_of(file);
  std::size_t size = kPrefix + header.size();
  for (const NamedTensor& tensor : file.tensors) size += tensor.values.size() * sizeof(float);
  std::string bytes;
  bytes.reserve(size);
  const std::uint64_t length = header.size();
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += header;
  for (const NamedTensor& tensor : file.tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.values.data()),
                 tensor.values.size() * sizeof(float));
  }
  return bytes;
}

Result<void> write_safetensors(const std::filesystem::path& path, const TensorFile& file) {
  if (Result<void> good = check(file); !good) {
    return invalid_argument(
        fmt::format("cannot write {}: {}", path.string(), good.error().message));
  }
  const std::filesystem::path part = fmt::format("{}.{}.part", path.string(), ::getpid());
  const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return error_at(path, "create");
  Result<void> done = write_all(descriptor, to_safetensors(file), path);
  if (::close(descriptor) != 0 && done) done = error_at(path, "write");
  if (done && !rename_durably(part, path)) done = error_at(path, "create");
  if (!done) ::unlink(part.c_str());
  return done;
}

Result<TensorFile> read_safetensors(const std::filesystem::path& path) {
  std::error_code ignored;
  // Opening a pipe would wait for a writer.
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot read {}: it is not a regular file", path.string())};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return error_at(path, "read");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return error_at(path, "read");
  Result<TensorFile> tensors = from_safetensors(bytes);
  if (tensors) return tensors;
  return Error{tensors.error().code,
               fmt::format("cannot read {}: {}", path.string(), tensors.error().message)};
}

Result<TensorFile> from_safetensors(std::string_view bytes) {
  Result<std::string_view> text = header_text(bytes);
  if (!text) return text.error();
  Result<Json> header = parse_header(*text);
  if (!header) return header.error();
  const std::string_view numbers = bytes.substr(kPrefix + text->size());
  TensorFile file;
  std::vector<Entry> entries;
  for (const auto& item : header->items()) {
    if (item.key() == "__metadata__") {
      Result<std::map<std::string, std::string>> metadata = read_metadata(item.value());
      if (!metadata) return metadata.error();
      file.metadata = std::move(*metadata);
      continue;
    }
    Result<Entry> entry = read_entry(item.key(), item.value(), numbers.size());
    if (!entry) return entry.error();
    entries.push_back(std::move(*entry));
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  if (Result<void> covered = check_cover(entries, numbers.size()); !covered) {
    return covered.error();
  }
  for (Entry& entry : entries) {
    NamedTensor& tensor = file.tensors.emplace_back();
    tensor.name = std::move(entry.name);
    tensor.shape = std::move(entry.shape);
    tensor.values.resize((entry.end - entry.begin) / sizeof(float));
    if (tensor.values.empty()) continue;
    std::memcpy(tensor.values.data(), numbers.data() + entry.begin, entry.end - entry.begin);
  }
  return file;
}

}  // namespace boba::sim
