#include "cli/job/memory_estimate.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/job/node.hpp"
#include "cli/output/quantities.hpp"

namespace plait::cli {

MemoryEstimate estimate_memory(mpi::Context& context, const std::vector<Index>& phases) {
  const Index own = phases.empty() ? 0 : *std::ranges::max_element(phases);
  const mpi::Communicator& node = context.topology().node();
  const Index on_node = mpi::all_reduce(node, own, mpi::Operation::sum());
  // All ranks of a node judge by the same numbers.
  const Index total = mpi::all_reduce(node, node_memory().total, mpi::Operation::minimum());
  const Index available = mpi::all_reduce(node, node_memory().available, mpi::Operation::minimum());

  mpi::agreed(context, [&] {
    if (total == 0 || on_node <= total) return;
    throw OutOfMemory(
        fmt::format("the job needs {} on the node of rank {} ({} of its ranks are there), which has {} of "
                    "memory; use more nodes",
                    bytes_text(on_node), context.rank(), node.size(), bytes_text(total)));
  });

  MemoryEstimate estimate{mpi::all_reduce(context.comm(), own, mpi::Operation::maximum()),
                          mpi::all_reduce(context.comm(), on_node, mpi::Operation::maximum())};
  const Index missing =
      mpi::all_reduce(context.comm(), total == 0 ? Index{0} : on_node - available, mpi::Operation::maximum());
  if (missing > 0) {
    estimate.warning = fmt::format("the job needs up to {} on a node, {} more than are available there now",
                                   bytes_text(estimate.fullest_node), bytes_text(missing));
  }
  return estimate;
}

}  // namespace plait::cli
