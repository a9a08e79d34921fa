#pragma once

#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"

namespace plait::cli {

/// What a job will need at its peak, in bytes.
struct MemoryEstimate {
  Index largest_rank = 0;
  Index fullest_node = 0;    // its ranks together
  std::string warning = {};  // not empty if a node has no such amount available now
};

/// What a rank holds of a matrix in this layout, in bytes; so few that those of some matrices can be added up. Local.
///
/// \throws OutOfMemory  it is more than a processor can address
[[nodiscard]] Index bytes_of_rank(const layout::Layout& layout, int rank, Index element_bytes);

/// The peak of a job that goes through phases, of which each needs this many bytes on this rank. Collective over
/// `context`.
///
/// \throws OutOfMemory  on every rank, naming a node and both numbers, if a node does not even have that much in all
[[nodiscard]] MemoryEstimate estimate_memory(mpi::Context& context, const std::vector<Index>& phases);

}  // namespace plait::cli
