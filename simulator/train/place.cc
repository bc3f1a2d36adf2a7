#include "simulator/train/place.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

#include "boba/kernels/cuda/cuda.h"
#include "simulator/train/spread.h"

namespace boba::sim {
namespace {

// The number of the GPU in "cuda" or "cuda:1"; none if it says something else.
std::optional<int> gpu_number(std::string_view device) {
  if (device == "cuda") return 0;
  int number = -1;
  if (!device.starts_with("cuda:")) return {};
  const char* const end = device.data() + device.size();
  const auto [rest, failure] = std::from_chars(device.data() + 5, end, number);
  if (failure != std::errc() || rest != end || number < 0) return {};
  if (device != fmt::format("cuda:{}", number)) return {};  // "cuda:01" names no device
  return number;
}

}  // namespace

Result<std::string> device_name(std::string_view device) {
  const Place place{.device = std::string(device)};
  if (!place.gpu()) return std::string();
  const auto kernels = make_kernels(place);
  if (!kernels) return kernels.error();
  if (const Result<void> there = training_has_gpu(); !there) return there.error();
  return (*kernels)->name();
}

Result<std::unique_ptr<const Kernels>> make_kernels(const Place& place) {
  if (!place.gpu()) return make_cpu_kernels({.threads = place.threads, .simd = place.simd});
  const std::optional<int> number = gpu_number(place.device);
  if (!number) {
    return invalid_argument(fmt::format("no device '{}'; use cpu, cuda or cuda:1", place.device));
  }
  return make_cuda_kernels({.device = *number});
}

Result<std::unique_ptr<Trainer>> make_trainer(const ResolvedExperiment& experiment,
                                              const Dataset& dataset, const FederationPlan& plan,
                                              const Place& place) {
  auto trainer = place.gpu()
                     ? make_batched_trainer(experiment, dataset, plan, place.device, place.threads)
                     : make_trainer(experiment, dataset, plan, place.threads);
  if (trainer && place.ranks != nullptr) {
    trainer = spread_trainer(std::move(*trainer), *place.ranks);
  }
  return trainer;
}

}  // namespace boba::sim
