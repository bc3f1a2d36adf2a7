// The safetensors format: named tensors of float32 in one file that Python reads too.
// 8 bytes little-endian header length, a JSON header, then the numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "boba/core/result.h"

namespace boba::sim {

struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;  // row major
};

struct TensorFile {
  std::vector<NamedTensor> tensors;
  std::map<std::string, std::string> metadata;
};

std::string to_safetensors(const TensorFile& file);
// Refuses what is not one: the error says at which byte, and what was expected there.
Result<TensorFile> from_safetensors(std::string_view bytes);

// Written to a temporary file beside it first, so that a reader never sees half a file.
Result<void> write_safetensors(const std::filesystem::path& path, const TensorFile& file);
Result<TensorFile> read_safetensors(const std::filesystem::path& path);

}  // namespace boba::sim
