# PLAIT_SCALAPACK: Debian's ScaLAPACK of the MPI in use, which benchmarks and tests compare with. Not by its CMake or
# pkg-config files: the former names a wrong folder, the latter the MPI that is the system's default.
find_library(PLAIT_SCALAPACK scalapack-${PLAIT_MPI_NAME})
