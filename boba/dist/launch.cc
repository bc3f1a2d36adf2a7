#include "boba/dist/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "boba/dist/mpi.h"
#include "boba/threads/team.h"

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
  const int usable = usable_processors();
  const auto all = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::max(1, std::min(usable, all / launch.here));
}

std::string launch_warning() {
  if (launched().size > 1) return "";
  // A batch script has SLURM_NTASKS, too, but is itself no step of several tasks.
  const int tasks = number_in("SLURM_STEP_NUM_TASKS").value_or(1);
  if (tasks < 2 || !number_in("SLURM_PROCID")) return "";
  return fmt::format("srun started {} independent processes; use mpirun inside the allocation",
                     tasks);
}

Result<std::unique_ptr<Communicator>> join() {
  const int size = launched().size;
  if (size == 1) return make_self_communicator();
  auto ranks = join_mpi();
  if (!ranks || (*ranks)->size() == size) return ranks;
  return invalid_argument(
      fmt::format("this is one of {} processes, and MPI sees {}: they were started by another "
                  "MPI's mpirun than the one boba was built with",
                  size, (*ranks)->size()));
}

}  // namespace boba
