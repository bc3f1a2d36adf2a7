#include <fmt/format.h>

#include "boba/dist/launch.h"
#include "boba/dist/mpi.h"

namespace boba {

bool mpi_built() { return false; }

Result<std::unique_ptr<Communicator>> join_mpi() {
  return invalid_argument(
      fmt::format("this is one of {} processes, and this boba was built without MPI; install "
                  "libopenmpi-dev and configure it with -DBOBA_MPI=ON",
                  launched().size));
}

}  // namespace boba
