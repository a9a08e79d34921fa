#pragma once

#include "plait/mpi/context.hpp"

#include "cli/generate/generate_options.hpp"

namespace plait::cli {

/// `plait generate`. Collective over `context`; rank 0 prints.
///
/// Of random numbers, element (i, j) is made from the random bits of counter i · columns + j, a complex one from those
/// of twice that and of the next.
void run_generate(mpi::Context& context, const GenerateOptions& options);

}  // namespace plait::cli
