# Which MPI was found, told by the macros of its mpi.h. Sets PLAIT_MPI_FAMILY to "Open MPI", "MPICH" or "SMPI", and
# PLAIT_MPI_NAME to the same as names of files have it: openmpi, mpich or smpi.
#
# The presets ask for one of them in PLAIT_MPI; a build folder that has cached the other one would compile against one
# MPI and be launched by the other, as so many ranks 0 of 1.
include(CheckSymbolExists)

set(PLAIT_MPI "" CACHE STRING "The MPI that is expected: openmpi, mpich, smpi (which is simulated), or empty for any")
set_property(CACHE PLAIT_MPI PROPERTY STRINGS "" openmpi mpich smpi)

function(plait_detect_mpi family)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
  set(CMAKE_REQUIRED_QUIET TRUE)
  check_symbol_exists(OPEN_MPI mpi.h PLAIT_MPI_IS_OPENMPI)
  check_symbol_exists(MPICH_VERSION mpi.h PLAIT_MPI_IS_MPICH)
  check_symbol_exists(SMPI_H mpi.h PLAIT_MPI_IS_SMPI)
  if(PLAIT_MPI_IS_SMPI)
    set(${family} "SMPI" PARENT_SCOPE)
  elseif(PLAIT_MPI_IS_OPENMPI)
    set(${family} "Open MPI" PARENT_SCOPE)
  elseif(PLAIT_MPI_IS_MPICH)
    set(${family} "MPICH" PARENT_SCOPE)
  else()
    set(${family} "unknown" PARENT_SCOPE)
  endif()
endfunction()

plait_detect_mpi(PLAIT_MPI_FAMILY)
string(TOLOWER "${PLAIT_MPI_FAMILY}" PLAIT_MPI_NAME)
string(REPLACE " " "" PLAIT_MPI_NAME "${PLAIT_MPI_NAME}")
if(PLAIT_MPI AND NOT PLAIT_MPI STREQUAL PLAIT_MPI_NAME)
  message(FATAL_ERROR
    "PLAIT_MPI is ${PLAIT_MPI}, but the mpi.h that was found is of ${PLAIT_MPI_FAMILY} (${MPI_C_COMPILER}). "
    "Remove ${PROJECT_BINARY_DIR} and configure again, or set MPI_C_COMPILER and MPIEXEC_EXECUTABLE.")
endif()
message(STATUS "MPI: ${PLAIT_MPI_FAMILY} (${MPIEXEC_EXECUTABLE})")

# Only the C bindings are used; the C++ ones, where mpi.h still declares them, need a library that is not linked.
target_compile_definitions(MPI::MPI_C INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
