#pragma once

#include <string>

#include "plait/mpi/context.hpp"

#include "cli/job/memory_estimate.hpp"
#include "cli/multiply/multiply_options.hpp"
#include "cli/multiply/multiply_run.hpp"
#include "cli/multiply/multiply_task.hpp"

namespace plait::cli {

/// What `plait multiply` did, in some lines for people.
[[nodiscard]] std::string summary(const mpi::Context& context, const MultiplyOptions& options, const MultiplyTask& task,
                                  const MultiplyOutcome& outcome);

/// The same as a JSON object in one line; the keys are documented in docs/command.md.
[[nodiscard]] std::string json_report(const mpi::Context& context, const MultiplyOptions& options,
                                      const MultiplyTask& task, const MemoryEstimate& memory,
                                      const MultiplyOutcome& outcome);

}  // namespace plait::cli
