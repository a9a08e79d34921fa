#pragma once

#include <string>
#include <string_view>

#include "plait/mpi/context.hpp"
#include "plait/report/traffic.hpp"

#include "cli/job/moved.hpp"
#include "cli/output/meter.hpp"
#include "cli/redistribute/redistribute_options.hpp"
#include "cli/redistribute/redistribute_task.hpp"

namespace plait::cli {

/// What came of a task. Each number is the same on all ranks.
struct RedistributeOutcome {
  std::string_view check;  // "passed" or "undecided"
  Moved read;
  Moved redistributed;            // from the one layout to the other
  Moved arranged;                 // between these and the slabs of the files, where they differ
  std::string arrangements = {};  // which those were, for people
  double check_seconds = 0;
  double plan_seconds = 0;
  report::TrafficSummary traffic;  // of that
  Moved written;
  double seconds = 0;  // of the whole job
};

/// Does it. The result is checked from end to end, from the elements that were read to those that are about to be
/// written, and nothing is written if that fails. Collective over `context`.
///
/// \throws Error  on every rank
[[nodiscard]] RedistributeOutcome run(mpi::Context& context, const RedistributeOptions& options,
                                      const RedistributeTask& task, Meter& meter);

}  // namespace plait::cli
