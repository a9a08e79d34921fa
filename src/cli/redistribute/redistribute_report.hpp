#pragma once

#include <string>

#include "plait/mpi/context.hpp"

#include "cli/job/memory_estimate.hpp"
#include "cli/redistribute/redistribute_options.hpp"
#include "cli/redistribute/redistribute_run.hpp"
#include "cli/redistribute/redistribute_task.hpp"

namespace plait::cli {

/// What `plait redistribute` did, in some lines for people.
[[nodiscard]] std::string summary(const RedistributeOptions& options, const RedistributeTask& task,
                                  const RedistributeOutcome& outcome);

/// The same as a JSON object in one line; the keys are documented in docs/command.md.
[[nodiscard]] std::string json_report(const mpi::Context& context, const RedistributeOptions& options,
                                      const RedistributeTask& task, const MemoryEstimate& memory,
                                      const RedistributeOutcome& outcome);

}  // namespace plait::cli
