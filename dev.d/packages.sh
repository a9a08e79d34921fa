# shellcheck shell=bash disable=SC2034
# What Debian 12 has to have for what, and how it is installed. Sourced by ./dev.

core_packages=(
  cmake ninja-build g++ pkg-config
  libhwy-dev libfmt-dev nlohmann-json3-dev
  libopenblas-dev # any BLAS does; this is a fast one
)
command_packages=(libcli11-dev)
numpy_packages=(python3 python3-numpy)
test_packages=(
  libgtest-dev libgmock-dev
  gfortran # Fortran calls the C API, MPI and ScaLAPACK
  python3-h5py # writes and reads HDF5 files
  g++-aarch64-linux-gnu qemu-user # the kernels of another architecture run under an emulator
)
cluster_packages=(iproute2) # ip and tc make the emulated cluster
lint_packages=(clang-format-19 clang-tidy-19 libomp-19-dev) # the last has the omp.h that clang looks for

# mpi_packages PRESET...: the MPIs of presets, openmpi and mpich among them.
mpi_packages() {
  local preset
  for preset in "$@"; do
    case $preset in
      openmpi | lint | clang) echo openmpi-bin libopenmpi-dev ;;
      mpich | debug | asan) echo mpich libmpich-dev ;;
      simgrid) echo libsimgrid-dev ;;
    esac
  done
}

# packages_of PRESET...: what building everything takes, and running it. Each MPI has its own HDF5, and ScaLAPACK, which
# tests and benchmarks compare with.
packages_of() {
  local preset
  echo "${core_packages[@]}" "${command_packages[@]}" "${numpy_packages[@]}" "${test_packages[@]}" "${cluster_packages[@]}"
  mpi_packages "$@"
  for preset in "$@"; do
    case $preset in
      clang) echo clang-19 libomp-19-dev ;;&
      openmpi | lint | clang) echo libhdf5-openmpi-dev libscalapack-openmpi-dev ;;
      mpich | debug | asan) echo libhdf5-mpich-dev libscalapack-mpich-dev ;;
    esac
  done
}

installed() {
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# require_packages NAME...: says nothing when all are there. Otherwise installs what is missing, or stops and names it.
require_packages() {
  local package missing=() as_root=()
  if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system: going on, in the hope that it has the like of: $*"
    return
  fi
  for package in "$@"; do
    installed "$package" || missing+=("$package")
  done
  [[ ${#missing[@]} == 0 ]] && return

  if [[ $EUID != 0 ]]; then
    as_root=(sudo -n)
    if ! sudo -n true 2>/dev/null; then
      echo "these packages are missing, and only root can install them:" >&2
      echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
      exit 1
    fi
  fi
  echo "installing ${missing[*]}"
  logged "looking for packages" build/setup.log "${as_root[@]}" apt-get update
  logged "installing packages" build/setup.log "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "${missing[@]}"
  touch build/installed # what CMake looked for in vain may be there now
}
