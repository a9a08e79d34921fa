#pragma once

#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"

/// What this process can know of the node that it runs on.
namespace plait::cli {

/// In bytes: all that there is, and what can be had without swapping. Of the machine, or of the control group that this
/// process is confined to if that has less. 0 where the system does not tell.
struct NodeMemory {
  Index total = 0;
  Index available = 0;
};
[[nodiscard]] NodeMemory node_memory();

/// The name of the processor, or "unknown".
[[nodiscard]] std::string processor_name();

/// Processors that are online, and the parts of the memory that they are near to; at least 1 of each.
struct NodeProcessors {
  int cores = 1;
  int numa_nodes = 1;
};
[[nodiscard]] NodeProcessors node_processors();

/// Restarts this process, but for what users have decided, with threads that sleep after some microseconds of
/// waiting (libgomp lets them spin for milliseconds, on cores that others may need) and with BLAS kernels of this
/// processor. Before MPI.
void start_with_early_settings(char** arguments);

/// Unless OMP_NUM_THREADS says otherwise, every rank gets its share of the cores that it may run on, so that ranks that
/// no launcher has bound to cores don't each take all of them. Collective over `context`.
void share_cores(const mpi::Context& context);

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
