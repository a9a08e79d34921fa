#pragma once

#include <functional>
#include <string>

#include "plait/model/machine.hpp"
#include "plait/mpi/context.hpp"

namespace plait::cli {

/// How thoroughly something is measured.
struct Effort {
  bool quick = false;                                 // fewer sizes, and each of them once
  double seconds = 0;                                 // about what may be spent on it
  std::function<void(const std::string& what)> tell;  // what is measured next; never null
};

/// Alpha and f_BW of messages within the nodes, all nodes at once; or what is assumed of them where no node has two
/// ranks. Collective over `context`; the same on every rank.
[[nodiscard]] model::Link measure_node_link(mpi::Context& context, const Effort& effort);

/// The same between nodes, each of which sends to the next one; assumed where there is a single node.
[[nodiscard]] model::Link measure_network_link(mpi::Context& context, const Effort& effort);

/// In bytes a second, while all ranks do the same; of the slowest of them.
struct MemoryRates {
  double read = 0;     // from memory, of all ranks of a node together
  double copy = 0;     // likewise; what is read counts
  double combine = 0;  // of a rank that adds segments which it was sent to a long vector of doubles
};

/// Collective over `context`; the same on every rank.
[[nodiscard]] MemoryRates measure_memory(mpi::Context& context, const Effort& effort);

/// Products of square matrices of doubles, one on each rank, by BLAS with a rank's share of the cores: in flops a
/// second, of all ranks of a node together. Collective over `context`; the same on every rank.
[[nodiscard]] double measure_products(mpi::Context& context, const Effort& effort);

}  // namespace plait::cli
