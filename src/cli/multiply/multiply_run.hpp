#pragma once

#include <string>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"

#include "cli/job/moved.hpp"
#include "cli/multiply/multiply_options.hpp"
#include "cli/multiply/multiply_task.hpp"
#include "cli/output/meter.hpp"

namespace plait::cli {

/// What came of a task. Each number is the same on all ranks.
struct MultiplyOutcome {
  std::string_view check;  // "passed" or "undecided"
  double residual = 0;     // relative, of a random vector
  double tolerance = 0;
  std::string arrangement;    // how it was multiplied, for people
  Index workspace_bytes = 0;  // of a rank
  double predicted_seconds = 0;
  double plan_seconds = 0;
  double seconds_multiplied = 0;  // with the moves to and fro
  double flops = 0;
  Index received_bytes = 0;       // by the rank that receives most, of the product
  Index redistributed_bytes = 0;  // by the rank that receives most, of the moves to and fro
  double bound_bytes = 0;         // the least that the busiest rank receives in any algorithm
  Moved read;
  Moved written;
  double check_seconds = 0;
  double seconds = 0;  // of the whole job
};

/// Does it. Nothing is written if the check fails. Collective over `context`.
///
/// \throws Error  on every rank
[[nodiscard]] MultiplyOutcome run(mpi::Context& context, const MultiplyOptions& options, const MultiplyTask& task,
                                  Meter& meter);

}  // namespace plait::cli
