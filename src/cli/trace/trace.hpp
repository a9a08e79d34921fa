#pragma once

#include "cli/trace/trace_options.hpp"

namespace plait::cli {

/// `plait trace`: reads a trace and prints its figures, or draws them on a page. Needs no MPI.
///
/// \throws FileError  the trace can't be read or is none; the page can't be written
void run_trace(const TraceOptions& options);

}  // namespace plait::cli
