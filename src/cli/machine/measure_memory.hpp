#pragma once

#include "plait/mpi/context.hpp"

#include "cli/machine/measure_links.hpp"

namespace plait::cli {

/// In bytes a second, while all ranks do the same; of the slowest of them.
struct MemoryRates {
  double read = 0;     // from memory, of all ranks of a node together
  double copy = 0;     // likewise; what is read counts
  double combine = 0;  // of a rank that adds segments which it was sent to a long vector of doubles
};

/// Collective over `context`; the same on every rank.
[[nodiscard]] MemoryRates measure_memory(mpi::Context& context, const Effort& effort);

}  // namespace plait::cli
