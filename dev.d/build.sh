# shellcheck shell=bash
# Configuring and building, quietly. Sourced by ./dev.

# logged FILE COMMAND...: the command's output is shown only if it fails, and then ends the script.
logged() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  [[ $status == 0 ]] && return
  # A build names what went wrong at "FAILED:", after hundreds of lines of progress.
  if grep -q '^FAILED:' "$log"; then
    sed -n '/^FAILED:/,$p' "$log" | head -n 300 >&2
  else
    tail -n 100 "$log" >&2
  fi
  echo "failed, see $log: $*" >&2
  exit 1
}

# configure PRESET: only if it never was, or the presets have changed since; ninja sees to all the rest.
configure() {
  local folder=build/$1
  [[ $folder/build.ninja -nt CMakePresets.json ]] && return
  logged "$folder/configure.log" cmake --preset "$1"
}

# How many cores there are; nproc alone says OMP_NUM_THREADS where that is set.
cores() {
  env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc
}

# build PRESET [TARGET...]: everything, or only these targets.
build() {
  local preset=$1
  shift
  configure "$preset"
  local log=build/$preset/build.log
  local words=(cmake --build --preset "$preset" --parallel "$(cores)" ${1:+--target "$@"})
  if [[ -t 1 ]]; then
    logged "$log" counted "building $preset" "${words[@]}" 3>&1
    printf '\rbuilt %s\033[K\n' "$preset"
  else
    echo "building $preset"
    logged "$log" "${words[@]}"
  fi
}

# counted LABEL COMMAND...: shows on file descriptor 3, a terminal, how many steps of ninja are done: one changing line.
counted() {
  local label=$1 line
  shift
  "$@" 2>&1 | while IFS= read -r line; do
    printf '%s\n' "$line"
    if [[ $line =~ ^\[([0-9]+/[0-9]+)\] ]]; then printf '\r%s %s\033[K' "$label" "${BASH_REMATCH[1]}" >&3; fi
  done || { printf '\n' >&3 && return 1; }
}
