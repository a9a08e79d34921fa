# Fortran, for the tests and the example of the C API, where there are a compiler and the modules of the same MPI. Sets
# PLAIT_FORTRAN.
include(CheckLanguage)
set(PLAIT_FORTRAN OFF)
check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  if(NOT MPI_Fortran_COMPILER) # another's modules would compile, and be linked with this one's library
    string(REPLACE mpicc mpifort MPI_Fortran_COMPILER "${MPI_C_COMPILER}")
  endif()
  find_package(MPI QUIET COMPONENTS Fortran)
  if(MPI_Fortran_FOUND AND MPI_Fortran_HAVE_F90_MODULE)
    set(PLAIT_FORTRAN ON)
  endif()
endif()
message(STATUS "Fortran: ${PLAIT_FORTRAN}")
