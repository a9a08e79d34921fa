# shellcheck shell=bash
# Configuring and building, quietly. Sourced by ./dev.

# logged LABEL FILE COMMAND...: the command's output is shown only if it fails, and then ends the script.
logged() {
  local label=$1 log=$2 status=0 reporter
  shift 2
  mkdir -p "$(dirname "$log")"
  : >"$log"
  report_progress "$label" "$log" $$ &
  reporter=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  kill "$reporter" 2>/dev/null || true
  wait "$reporter" 2>/dev/null || true
  [[ ! -t 1 ]] || printf '\r\033[K'
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

# report_progress LABEL FILE PROCESS: while the process lives, how long it took so far and which step of ninja, whose
# output is in the file, is done. One changing line on a terminal, else a line every `progress_seconds`.
report_progress() {
  local label=$1 log=$2 script=$3 start=$SECONDS next step
  next=$((start + ${progress_seconds:=15}))
  while sleep 0.5 && kill -0 "$script" 2>/dev/null; do
    [[ -t 1 || $SECONDS -ge $next ]] || continue
    step=$(sed -n 's|^\[\([1-9][0-9]*\)/\([0-9]*\)\].*|, step \1 of \2|p' "$log" | tail -n 1)
    step="$label: $((SECONDS - start)) s$step"
    if [[ -t 1 ]]; then printf '\r%s\033[K' "$step"; else echo "  $step"; fi
    next=$((SECONDS + progress_seconds))
  done
}

# cached PRESET NAME: a variable of the build's CMake cache.
cached() {
  sed -n "s/^$2:[A-Z]*=//p" "build/$1/CMakeCache.txt"
}

# configure PRESET: if it never was, or for the command alone, or the presets or packages have changed since, or warnings
# are to be errors and were none; ninja sees to all the rest.
configure() {
  local folder=build/$1
  if [[ $folder/build.ninja -nt CMakePresets.json && ! build/installed -nt $folder/build.ninja &&
    ! -e $folder/command_only ]] &&
    [[ -z ${PLAIT_WERROR:-} || $(cached "$1" CMAKE_COMPILE_WARNING_AS_ERROR) == "$PLAIT_WERROR" ]]; then
    return
  fi
  logged "configuring $1" "$folder/configure.log" cmake --fresh --preset "$1"
  rm -f "$folder/command_only"
}

# configure_command PRESET: to build nothing but the command, which needs fewer packages; as it is if it has been before.
configure_command() {
  local folder=build/$1
  [[ -e $folder/build.ninja ]] && return
  logged "configuring $1" "$folder/configure.log" cmake --preset "$1" -DPLAIT_BUILD_TESTS=OFF -DPLAIT_BUILD_BENCH=OFF \
    -DPLAIT_BUILD_SHIMS=OFF -DPLAIT_BUILD_CAPI=OFF
  touch "$folder/command_only"
}

# How many cores there are; nproc alone says OMP_NUM_THREADS where that is set.
cores() {
  env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc
}

# build PRESET [TARGET...]: everything, or only these targets, once it is configured.
build() {
  local preset=$1 start=$SECONDS
  shift
  [[ -t 1 ]] || echo "building $preset"
  logged "building $preset" "build/$preset/build.log" \
    cmake --build --preset "$preset" --parallel "$(cores)" ${1:+--target "$@"}
  echo "built $preset in $((SECONDS - start)) s"
}
