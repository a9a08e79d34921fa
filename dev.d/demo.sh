# shellcheck shell=bash
# The main job, as a user would run it: density matrices of C60 and of a piece of graphene, on four ranks.
# Sourced by ./dev.

# demo PRESET PYTHON: with a Python that has NumPy.
demo() {
  local preset=$1 python=$2 plait=build/$1/bin/plait folder=build/demo launch
  # Idle ranks give way: the machine may have fewer cores than ranks.
  case $preset in
    openmpi)
      launch=(mpiexec.openmpi -n 4 --oversubscribe --bind-to none --mca mpi_yield_when_idle 1
        --mca btl_base_warn_component_unused 0)
      ;;
    mpich) launch=(mpiexec.mpich -bind-to none -n 4) ;;
  esac
  mkdir -p "$folder"
  export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

  step "$plait" generate hamiltonian --kind c60 -o "$folder/c60.npy"
  step "${launch[@]}" "$plait" purify "$folder/c60.npy" --electrons 60 -o "$folder/c60-density.npy"
  step "$python" dev.d/verify_density.py "$folder/c60.npy" "$folder/c60-density.npy" 60

  step "$plait" generate hamiltonian --kind graphene --size 2000 -o "$folder/graphene.npy"
  # By products alone, though eigenvectors take less time here: NumPy's are the same ones, and would tell nothing.
  step "${launch[@]}" "$plait" purify "$folder/graphene.npy" --electrons 2000 --method canonical -o "$folder/graphene-density.npy" \
    --report "$folder/graphene.html"
  step "$python" dev.d/verify_density.py "$folder/graphene.npy" "$folder/graphene-density.npy" 2000

  printf '\nHow it converged, the density matrix as a picture, and what each rank did when: %s\n' "$PWD/$folder/graphene.html"
}

# Shows a command as it could be typed, and runs it.
step() {
  printf '\n$ %s\n' "$*"
  "$@" </dev/null
}

# demo_verdict STATUS: the last line.
demo_verdict() {
  if [[ $1 == 0 ]]; then
    echo "demo passed: the density matrices of C60 and of 2,000 sites of graphene are those of NumPy's eigenvectors"
  else
    echo "demo failed, with status $1: see above"
  fi
}
