# shellcheck shell=bash
# Running a benchmark on all the numbers of ranks that it wants. Sourced by ./dev.

# commit: what the sources are, for a report.
commit() {
  git describe --always --dirty --tags 2>/dev/null || echo unknown
}

# take_blas_kernels PLAIT PYTHON: all programs get OpenBLAS' kernels that the command takes by itself.
take_blas_kernels() {
  local kernels
  kernels=$("$1" info --json | "$2" -c 'import json, sys; print(json.load(sys.stdin)["blas_kernels"] or "")')
  [[ -z $kernels ]] || export OPENBLAS_CORETYPE=$kernels
}

# launcher PRESET: the words that start RANKS ranks, of which each has SHARE cores.
launcher() {
  local words
  words=$(cached "$1" MPIEXEC_EXECUTABLE)
  case $(cached "$1" PLAIT_MPI) in
    openmpi) words+=" --map-by slot:PE=SHARE --bind-to core --mca btl_base_warn_component_unused 0" ;;
    mpich) words+=" -bind-to core:SHARE" ;;
  esac
  echo "$words -n RANKS"
}

# launch PRESET RANKS PROGRAM [ARGUMENTS]: equal shares of the cores for all ranks where there are enough. Otherwise as
# the tests are launched, where idle ranks sleep: such timings are a report, never a gate.
launch() {
  local preset=$1 ranks=$2 words share
  shift 2
  share=$(($(cores) / ranks))
  words=$(launcher "$preset")
  words=${words/SHARE/$share}
  if [[ $share == 0 ]]; then
    "build/$preset/tests/mpiexec" "$ranks" "$@"
  else
    ${words/RANKS/$ranks} "$@" </dev/null
  fi
}

# launch_on_nodes PRESET RATE PPN RANKS PROGRAM [ARGUMENTS]: so many ranks on each node of the emulated cluster. Where
# there can be none, the cluster says why, and ends with 125.
launch_on_nodes() {
  "build/$1/bin/cluster" -k "$(($4 / $3))" --ppn "$3" -r "$2" -- "${@:5}" </dev/null
}

# run_benchmark PRESET NAME [ARGUMENTS]: one launch for each number of ranks, and one report of them all.
run_benchmark() {
  local preset=$1 name=$2 folder=build/$1/bench
  shift 2
  local program=build/$preset/bin/bench_$name
  local json=$folder/$name.json numbers="" rate="" ppn=1 of_all=() of_each=() parts=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      -h | --help) exec "$program" --help ;;
      --ranks)
        numbers=${2:-}
        [[ $numbers =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || usage_error "--ranks is '$numbers', expected numbers such as 1,2"
        shift 2
        ;;
      --rate) rate=${2:?--rate needs the links\' rate, such as 1gbit} && shift 2 ;;
      --ppn)
        ppn=${2:-}
        [[ $ppn =~ ^[1-9][0-9]*$ ]] || usage_error "--ppn is '$ppn', expected a number of ranks such as 2"
        shift 2
        ;;
      --json) json=${2:?--json needs a file} && shift 2 ;;
      --plot | --extent-plot | --heat-map) of_all+=("$1" "${2:?$1 needs a file}") && shift 2 ;;
      --gate) of_all+=("$1") && shift ;;
      *) of_each+=("$1") && shift ;;
    esac
  done
  mkdir -p "$folder"
  export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
  of_each+=(--commit "$(commit)")

  local ranks start
  [[ -n $numbers ]] || numbers=$("$program" --list-ranks)
  [[ -n $rate ]] || rate=$("$program" --list-link-rate)
  start=(launch "$preset")
  [[ -n $rate || $ppn == 1 ]] || usage_error "--ppn $ppn needs an emulated cluster: --rate"
  [[ -z $rate ]] || start=(launch_on_nodes "$preset" "$rate" "$ppn")
  for ranks in ${numbers//,/ }; do
    ((ranks % ppn == 0)) || usage_error "$ranks ranks don't fill nodes of $ppn"
    parts+=("$folder/$name@$ranks.json")
    "${start[@]}" "$ranks" "$program" "${of_each[@]}" --json "${parts[-1]}"
  done
  "$program" --merge "${parts[@]}" --json "$json" "${of_all[@]}"
  echo "$json"
}

# run_applications PYTHON [ARGUMENTS]: of Debian, which are made for Open MPI, on two ranks.
run_applications() {
  local python=$1 started_by="build/openmpi/tests/mpiexec 2" share=$(($(cores) / 2))
  shift
  set_up openmpi
  build openmpi plait_command plait_openmpi plait_reduce
  [[ $share == 0 ]] || started_by="mpiexec.openmpi --map-by slot:PE=$share --bind-to core -n 2"
  "$python" bench/applications/run.py --plait build/openmpi/bin/plait --launcher "$started_by" \
    --mpi "Open MPI $(dpkg-query --show --showformat='${source:Upstream-Version}' libopenmpi3)" --commit "$(commit)" "$@"
}
