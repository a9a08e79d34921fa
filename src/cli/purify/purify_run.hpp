#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/purify/orthogonal.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/smearing.hpp"
#include "plait/purify/spectrum.hpp"
#include "plait/report/overlap.hpp"
#include "plait/report/trace.hpp"

#include "cli/job/memory_estimate.hpp"
#include "cli/output/meter.hpp"
#include "cli/pictures/matrix_picture.hpp"
#include "cli/purify/purify_options.hpp"
#include "cli/purify/purify_task.hpp"

namespace plait::cli {

/// What came of a task. Each number is the same on all ranks, but for what only rank 0 has.
struct PurifyOutcome {
  purify::State state;
  purify::Interval chemical_potentials;
  purify::Frontier frontier;
  std::vector<double> energies;  // of all eigenstates, where they were found
  purify::Occupations occupations;
  double energy = 0;             // per_state · tr(DH)
  double trace_error = 0;        // tr(DS) - occupied
  double idempotency_error = 0;  // ‖DSD - D‖, Frobenius
  double commutator_error = 0;   // ‖(HD - DH)v‖ / (‖v‖ · width of the spectrum) of a random v
  double energy_error = 0;       // tr(DH) less the sum over eigenstates, over the width of the spectrum
  std::optional<purify::InverseRoot> root;
  Index resumed_at = 0;        // steps that a checkpoint had, 0 without
  bool other_ranks = false;    // the checkpoint was written by another number of ranks
  Index multiplications = 0;   // of this run's iteration
  double product_seconds = 0;  // of the products of the steps of this run, on the slowest rank
  double flops = 0;            // of these
  std::string products;        // how they were done
  Index received_bytes = 0;    // by the busiest rank, in the iteration
  double least_bytes = 0;      // that it had to receive at least; 0 with one rank
  MemoryEstimate memory;
  double read_seconds = 0;
  double prepare_seconds = 0;  // going to an orthonormal basis, and bounding the spectrum
  double purify_seconds = 0;
  double check_seconds = 0;  // states at the gap, going back to the basis that was given, checks
  double write_seconds = 0;
  double seconds = 0;
  report::Trace trace;             // on rank 0
  report::Overlap overlap;         // on rank 0
  Nanoseconds loop_begin = never;  // of the steps, on this rank's steady clock
  Nanoseconds loop_end = never;
  MatrixPicture picture;  // for --report
};

/// Whether the states at the gap are known, or only bounds of them.
[[nodiscard]] inline bool is_gap_resolved(const PurifyOutcome& outcome) {
  return outcome.frontier.is_resolved(outcome.state.problem.spectrum.width());
}

/// Does it; the result is checked, and nothing is written if that fails. Collective over `context`.
///
/// \throws Error  on every rank
[[nodiscard]] PurifyOutcome run(mpi::Context& context, const PurifyOptions& options, const PurifyTask& task,
                                Meter& meter);

}  // namespace plait::cli
