#include "simulator/train/checkpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <utility>

#include "simulator/store/safetensors.h"

namespace boba::sim {
namespace {

constexpr const char* kRound = "boba.round";
constexpr const char* kParameters = "parameters";
constexpr const char* kVelocity = "velocity";

NamedTensor flat(const char* name, const std::vector<float>& values) {
  return {name, {static_cast<std::int64_t>(values.size())}, values};
}

}  // namespace

std::string pack(const Checkpoint& checkpoint) {
  TensorFile file;
  file.metadata[kRound] = std::to_string(checkpoint.round);
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
