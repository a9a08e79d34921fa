#pragma once

#include <string>

// A program that calls MPI's reductions and knows nothing of plait: it is run with and without plait's library.
// `program PART`: each part prints what may differ between the two, and ends with another status than 0 where results
// are wrong.

void check_results();         // part "results"
void print_errors();          // part "errors"
void check_pass_on();         // part "pass-on"
void check_padding();         // part "padding"
void check_integers();        // part "integers"
void check_nonblocking();     // part "nonblocking"
void check_persistent();      // part "persistent"
void check_first_call();      // part "first-call"
void check_communicators();   // part "communicators"
void check_spawned();         // part "spawned"
void check_no_descriptors();  // part "no-descriptors"
void check_threads();         // part "threads"

// Only with plait's library.
void check_different_counts();          // part "different-counts"
void check_that_calls_wait_for_none();  // part "calls-wait-for-none"
void check_more_of_persistent();        // part "more-of-persistent"

// These end by what one rank does, and would never else; each rank says which process it is.
void exit_meanwhile();       // part "exit-meanwhile"
void be_killed_meanwhile();  // part "be-killed-meanwhile"
void abort_between();        // part "abort-between"

// Reduces when main has ended.
void reduce_at_exit();  // part "reduce-at-exit"

// Only with plait's library and PLAIT_REPRODUCIBLE=1.
void check_reproducible();             // part "reproducible"
void check_persistent_reproducible();  // part "reproducible-persistent"
void check_reproducible_on_many();     // part "reproducible-on-many"
void check_not_reproducible();         // part "not-reproducible"
void check_few_sums();                 // part "few-sums"

/// Says on stderr what is wrong.
void complain(const std::string& what);
