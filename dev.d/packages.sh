# shellcheck shell=bash disable=SC2034
# What Debian 12 has to have, and how it is installed. Sourced by ./dev.

build_packages=(
  cmake ninja-build g++ gfortran pkg-config # Fortran calls the C API, MPI and ScaLAPACK in tests and examples
  openmpi-bin libopenmpi-dev mpich libmpich-dev
  libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev
  libopenblas-dev # any BLAS does; this is a fast one
  libhdf5-openmpi-dev libhdf5-mpich-dev # matrices in HDF5 files; each MPI has its own build of it
  libgtest-dev libgmock-dev
  libscalapack-openmpi-dev libscalapack-mpich-dev # what the benchmarks compare with
  python3 python3-numpy python3-h5py # the latter writes and reads HDF5 files in tests
  g++-aarch64-linux-gnu qemu-user # the kernels of another architecture are tested under an emulator
  iproute2 # ip and tc make the emulated cluster
)
lint_packages=(clang-format-19 clang-tidy-19 libomp-19-dev) # the last has the omp.h that clang looks for

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
  logged build/setup.log "${as_root[@]}" apt-get update
  logged build/setup.log "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "${missing[@]}"
}
