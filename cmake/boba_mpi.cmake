# MPI, where it is installed: BOBA_MPI is ON, OFF, or AUTO (ON where it is found). With sanitizers it
# stays out: they would report what the MPI library leaves behind.
set(BOBA_MPI AUTO CACHE STRING "Spread work over processes with MPI: ON, OFF, or AUTO where it is found")
set(boba_mpi OFF)
if(BOBA_MPI AND NOT BOBA_SANITIZE)
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    set(boba_mpi ON)
  elseif(NOT BOBA_MPI STREQUAL "AUTO")
    message(FATAL_ERROR "BOBA_MPI=${BOBA_MPI} needs an MPI library, as Debian's libopenmpi-dev; none "
                        "was found. Install one, or set BOBA_MPI=OFF")
  endif()
elseif(BOBA_MPI AND NOT BOBA_MPI STREQUAL "AUTO")
  message(FATAL_ERROR "BOBA_MPI=${BOBA_MPI} does not go with BOBA_SANITIZE=${BOBA_SANITIZE}")
endif()
