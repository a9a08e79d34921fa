#pragma once

#include "cli/redistribute/plan_options.hpp"

namespace plait::cli {

/// `plait plan`: one process, without MPI. Prints the result and writes the plot.
///
/// \throws LayoutError, ArgumentError, ShapeMismatch  layouts that do not suit the shape
/// \throws FileError  a file can't be read or written
void run_plan(const PlanOptions& options);

}  // namespace plait::cli
