# SimGrid's SMPI, which runs ranks in one process on a simulated network, as MPI::MPI_C; and PLAIT_SMPIRUN. In place of
# find_package(MPI), whose way over the compiler wrapper brings macros that rename libc's functions in C++'s headers, too.
find_path(PLAIT_SMPI_INCLUDES NAMES mpi.h PATH_SUFFIXES smpi NO_CMAKE_ENVIRONMENT_PATH)
find_library(PLAIT_SIMGRID simgrid)
find_program(PLAIT_SMPIRUN smpirun)
if(NOT PLAIT_SMPI_INCLUDES MATCHES "smpi$" OR NOT PLAIT_SIMGRID OR NOT PLAIT_SMPIRUN)
  message(FATAL_ERROR "PLAIT_MPI is smpi, but there is no SimGrid with SMPI: on Debian, install libsimgrid-dev")
endif()

add_library(MPI::MPI_C INTERFACE IMPORTED)
target_include_directories(MPI::MPI_C INTERFACE ${PLAIT_SMPI_INCLUDES})
target_link_libraries(MPI::MPI_C INTERFACE ${PLAIT_SIMGRID})
# What SimGrid 3.32 names in a macro of C++ is missing.
target_compile_definitions(MPI::MPI_C INTERFACE
  smpi_MPI_CXX_FLOAT_COMPLEX=smpi_MPI_C_FLOAT_COMPLEX smpi_MPI_CXX_DOUBLE_COMPLEX=smpi_MPI_C_DOUBLE_COMPLEX)
set(MPIEXEC_EXECUTABLE ${PLAIT_SMPIRUN})
