#!/bin/bash
# report_broken_ranks.sh MPIEXEC PROGRAM: the test main fails for every reason it should, and says which.
set -u
mpiexec=$1
program=$2
mistakes=0

# expect STATUS TEST TEXT...: the test ends the job with this status (or any but 0) and prints each of the texts.
expect() {
  local wanted=$1 name=$2 output status=0 text
  shift 2
  output=$("$mpiexec" 2 "$program" --gtest_filter="Broken.$name" 2>&1) || status=$?
  if [[ $status == 0 || ($wanted != any && $status != "$wanted") ]]; then
    echo "$name: exit status $status, expected $wanted"
    mistakes=1
  fi
  for text in "$@"; do
    if [[ $output != *"$text"* ]]; then
      printf '%s: does not print "%s", but:\n%s\n' "$name" "$text" "$output"
      mistakes=1
    fi
  done
}

export PLAIT_TEST_WATCHDOG_SECONDS=1
expect 1 fails_on_rank_1 '[rank 1] Broken.fails_on_rank_1' '[rank 1] second line' 'failed on rank 1' '[  FAILED  ] Broken'
expect 1 throws_on_rank_1 'thrown on one rank' 'failed on rank 1'
expect 1 is_skipped_on_rank_1 'skipped on rank 1, but run on rank 0'
expect any waits_on_rank_0_for_what_never_comes 'watchdog: Broken.waits_on_rank_0_for_what_never_comes' \
  '[rank 0] rank 0 is in the receive'
expect any crashes_on_rank_1
exit $mistakes
