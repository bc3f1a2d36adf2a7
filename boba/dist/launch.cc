#include "boba/dist/launch.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "boba/dist/mpi.h"
#include "boba/kernels/cpu/parallel.h"

namespace boba {
namespace {

std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, value);
  if (read.ec != std::errc() || read.ptr != end || value < 0) return std::nullopt;
  return value;
}

}  // namespace

Launch launched() {
  constexpr const char* kNames[][3] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"}};
  for (const auto& names : kNames) {
    const std::optional<int> rank = number_in(names[0]);
    const std::optional<int> size = number_in(names[1]);
    if (!rank || !size || *rank >= *size) continue;
    return {*rank, *size, std::clamp(number_in(names[2]).value_or(1), 1, *size)};
  }
  return {};
}

int threads_of(const Launch& launch) {
  const int usable = cpu::usable_processors();
  const auto all = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::max(1, std::min(usable, all / launch.here));
}

Result<std::unique_ptr<Communicator>> join() {
  if (launched().size == 1) return make_self_communicator();
  return join_mpi();
}

}  // namespace boba
