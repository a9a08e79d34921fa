# shellcheck shell=bash
# A command on the emulated cluster. Sourced by ./dev.

# cluster PYTHON FOLDER ARGUMENT...: with a Python; the command runs in the folder, which is the caller's.
cluster() {
  local python=$1 folder=$2 own=() command=()
  shift 2
  while [[ $# -gt 0 && $1 != -- ]]; do own+=("$1") && shift; done
  command=("$@") # with its --, and without a look at its options
  if [[ " ${own[*]} " == *" --help "* || " ${own[*]} " == *" -h "* ]]; then
    exec "$python" bench/cluster/cluster.py --help
  fi
  mpich_preset=mpich parse openmpi "${own[@]}"
  [[ ${#presets[@]} == 1 ]] || usage_error "cluster runs with one MPI at a time"
  # Standard output is the command's.
  require_packages "${build_packages[@]}" >&2
  build "${presets[0]}" plait_command cluster_check >&2
  local launcher=$PWD/build/${presets[0]}/bin/cluster
  cd "$folder" || exit
  exec "$launcher" "${arguments[@]}" "${command[@]}"
}
