#include "simulator/store/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
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

// The number of elements, or none if it is no shape or beyond 2^60.
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

// What to_safetensors requires.
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
  // Opening a pipe would wait for somebody to write to it.
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

}  // namespace boba::sim
