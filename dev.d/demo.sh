# shellcheck shell=bash
# The main job, as a user would run it: half a gigabyte from one block-cyclic layout into another one, transposed.
# Sourced by ./dev.

# demo PYTHON: with a Python that has NumPy.
demo() {
  local python=$1 plait=build/openmpi/bin/plait folder=build/demo
  # Idle ranks give way: the machine may have fewer cores than ranks.
  local launch=(mpiexec.openmpi -n 4 --oversubscribe --bind-to none --mca mpi_yield_when_idle 1
    --mca btl_base_warn_component_unused 0)
  mkdir -p "$folder"
  export OMP_NUM_THREADS=1

  step "$plait" generate 8000x8000 --type f64 -o "$folder/B.npy"
  step "${launch[@]}" "$plait" redistribute "$folder/B.npy" -o "$folder/A.npy" --op transpose \
    --from block-cyclic:32x32@2x2 --to block-cyclic:128x128@2x2,order=col
  step "$python" dev.d/verify_transpose.py "$folder/B.npy" "$folder/A.npy"
}

# Shows a command as it could be typed, and runs it.
step() {
  printf '\n$ %s\n' "$*"
  "$@" </dev/null
}
