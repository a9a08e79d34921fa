#pragma once

#include "plait/mpi/context.hpp"

namespace plait::cli {

/// Collective over `context`: ranks that did different things would wait for each other for ever.
///
/// \throws UsageError  on every rank, if the arguments that they were started with differ
void expect_same_arguments(const mpi::Context& context, int argc, const char* const* argv);

}  // namespace plait::cli
