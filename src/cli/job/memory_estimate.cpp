#include "cli/job/memory_estimate.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

#include "cli/job/node.hpp"
#include "cli/output/quantities.hpp"

namespace plait::cli {

Index bytes_of_rank(const layout::Layout& layout, int rank, Index element_bytes) {
  constexpr Index most = Index{1} << 57;
  const Index bytes = layout::place_tiles(layout, rank, element_bytes).bytes;
  if (bytes <= most) return bytes;
  throw OutOfMemory(fmt::format("rank {} would hold {} of {}, more than a processor can address; use more ranks", rank,
                                bytes_text(bytes), layout::describe(layout)));
}

MemoryEstimate estimate_memory(mpi::Context& context, const std::vector<Index>& phases) {
  const Index own = phases.empty() ? 0 : *std::ranges::max_element(phases);
  const mpi::Communicator& node = context.topology().node();
  const Index most_of_rank = std::numeric_limits<Index>::max() / node.size();  // so that the sum can be counted
  const Index on_node = mpi::all_reduce(node, std::min(own, most_of_rank), mpi::Operation::sum());
  // All ranks of a node judge by the same numbers.
  const Index total = mpi::all_reduce(node, node_memory().total, mpi::Operation::minimum());
  const Index available = mpi::all_reduce(node, node_memory().available, mpi::Operation::minimum());

  mpi::agreed(context, [&] {
    if (total == 0 || on_node <= total) return;
    throw OutOfMemory(
        fmt::format("the job needs {} on the node of rank {} (for {} ranks), which has {} of memory; use "
                    "more nodes",
                    bytes_text(on_node), context.rank(), node.size(), bytes_text(total)));
  });

  MemoryEstimate estimate{mpi::all_reduce(context.comm(), own, mpi::Operation::maximum()),
                          mpi::all_reduce(context.comm(), on_node, mpi::Operation::maximum())};
  const Index missing =
      mpi::all_reduce(context.comm(), total == 0 ? Index{0} : on_node - available, mpi::Operation::maximum());
  if (missing > 0) {
    estimate.warning = fmt::format("the job needs up to {} on a node, {} more than is available there now",
                                   bytes_text(estimate.fullest_node), bytes_text(missing));
  }
  return estimate;
}

}  // namespace plait::cli
