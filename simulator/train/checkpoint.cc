#include "simulator/train/checkpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "simulator/store/safetensors.h"

namespace boba::sim {
namespace {

constexpr const char* kRound = "boba.round";
constexpr const char* kMemory = "boba.memory";
constexpr const char* kParameters = "parameters";
constexpr const char* kVelocity = "velocity";

NamedTensor flat(const char* name, const std::vector<float>& values) {
  return {name, {static_cast<std::int64_t>(values.size())}, values};
}

// Metadata is text.
std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}
std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return {};
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned value = 0;
    const char* const end = text.data() + i + 2;
    if (std::from_chars(text.data() + i, end, value, 16).ptr != end) return {};
    bytes += static_cast<char>(value);
  }
  return bytes;
}

}  // namespace

std::string pack(const Checkpoint& checkpoint) {
  TensorFile file;
  file.metadata[kRound] = std::to_string(checkpoint.round);
  if (!checkpoint.memory.empty()) file.metadata[kMemory] = to_hex(checkpoint.memory);
  file.tensors.push_back(flat(kParameters, checkpoint.parameters));
  if (!checkpoint.velocity.empty()) file.tensors.push_back(flat(kVelocity, checkpoint.velocity));
  return to_safetensors(file);
}

Result<Checkpoint> unpack(std::string_view bytes, std::size_t length, bool momentum) {
  auto file = from_safetensors(bytes);
  if (!file) return file.error();
  Checkpoint checkpoint;
  const std::string& round = file->metadata[kRound];
  const char* const end = round.data() + round.size();
  if (round.empty() || std::from_chars(round.data(), end, checkpoint.round).ptr != end) {
    return invalid_argument(
        fmt::format("checkpoint: the round is '{}'; a number was expected", round));
  }
  auto memory = from_hex(file->metadata[kMemory]);
  if (!memory) return invalid_argument("checkpoint: the rule's memory is damaged");
  checkpoint.memory = *std::move(memory);
  for (NamedTensor& tensor : file->tensors) {
    if (tensor.name == kParameters) checkpoint.parameters = std::move(tensor.values);
    if (tensor.name == kVelocity) checkpoint.velocity = std::move(tensor.values);
  }
  const std::size_t velocity = momentum ? length : 0;
  if (checkpoint.parameters.size() != length || checkpoint.velocity.size() != velocity) {
    return invalid_argument(
        fmt::format("checkpoint: {} parameters and {} of momentum; the model has {} and {}",
                    checkpoint.parameters.size(), checkpoint.velocity.size(), length, velocity));
  }
  return checkpoint;
}

}  // namespace boba::sim
