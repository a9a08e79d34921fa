# shellcheck shell=bash
# Running a benchmark on all the numbers of ranks that it wants. Sourced by ./dev.

# cached PRESET NAME: a variable of the build's CMake cache.
cached() {
  sed -n "s/^$2:[A-Z]*=//p" "build/$1/CMakeCache.txt"
}

# launch PRESET RANKS PROGRAM [ARGUMENTS]: a core for each rank where there are enough. Otherwise as the tests are
# launched, where idle ranks sleep: such timings are a report, never a gate.
launch() {
  local preset=$1 ranks=$2
  shift 2
  local launcher=("$(cached "$preset" MPIEXEC_EXECUTABLE)")
  case $(cached "$preset" PLAIT_MPI) in
    openmpi) launcher+=(--bind-to core --mca btl_base_warn_component_unused 0) ;;
    mpich) launcher+=(-bind-to core) ;;
  esac
  if [[ $ranks -gt $(nproc) ]]; then
    "build/$preset/tests/mpiexec" "$ranks" "$@"
  else
    "${launcher[@]}" -n "$ranks" "$@" </dev/null
  fi
}

# launch_on_nodes PRESET RATE RANKS PROGRAM [ARGUMENTS]: a node of the emulated cluster for each rank. Where there can
# be none, the cluster says why, and ends with 125.
launch_on_nodes() {
  "build/$1/bin/cluster" -k "$3" -r "$2" -- "${@:4}" </dev/null
}

# run_benchmark PRESET NAME [ARGUMENTS]: one launch for each number of ranks, and one report of them all.
run_benchmark() {
  local preset=$1 name=$2 folder=build/$1/bench
  shift 2
  local program=build/$preset/bin/bench_$name
  local json=$folder/$name.json numbers="" rate="" of_all=() of_each=() parts=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      -h | --help) exec "$program" --help ;;
      --ranks)
        numbers=${2:-}
        [[ $numbers =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || usage_error "--ranks is '$numbers', expected numbers such as 1,2"
        shift 2
        ;;
      --rate) rate=${2:?--rate needs the links\' rate, such as 1gbit} && shift 2 ;;
      --json) json=${2:?--json needs a file} && shift 2 ;;
      --plot) of_all+=("$1" "${2:?--plot needs a file}") && shift 2 ;;
      --gate) of_all+=("$1") && shift ;;
      *) of_each+=("$1") && shift ;;
    esac
  done
  mkdir -p "$folder"
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
  of_each+=(--commit "$(git describe --always --dirty --tags 2>/dev/null || echo unknown)")

  local ranks launcher
  [[ -n $numbers ]] || numbers=$("$program" --list-ranks)
  [[ -n $rate ]] || rate=$("$program" --list-link-rate)
  launcher=(launch "$preset")
  [[ -z $rate ]] || launcher=(launch_on_nodes "$preset" "$rate")
  for ranks in ${numbers//,/ }; do
    parts+=("$folder/$name@$ranks.json")
    "${launcher[@]}" "$ranks" "$program" "${of_each[@]}" --json "${parts[-1]}"
  done
  "$program" --merge "${parts[@]}" --json "$json" "${of_all[@]}"
  echo "$json"
}
