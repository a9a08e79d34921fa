#pragma once

#include <string_view>

#include "plait/base/index.hpp"
#include "plait/collective/stream.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/combine.hpp"

namespace plait::sinkhorn {

/// How the sums of columns come from all ranks to all. All but the first are for comparison.
enum class SumWay : unsigned char {
  chosen,     ///< through memory that the ranks of a node share; between nodes by the least cost
  mpi,        ///< the MPI library's MPI_Allreduce
  ring,       ///< a ring of all ranks, nodes or not
  two_level,  ///< down a tree to the first rank of each node, a ring of these, up the trees; chunk by chunk
  coffee,     ///< the same, but all ranks of a node have an equal part in summing up before the first one gathers it
};

/// "auto", "mpi", "ring", "two-level", "coffee".
[[nodiscard]] std::string_view name(SumWay way) noexcept;

/// As many parts of a vector go through all ranks side by side.
inline constexpr int exchange_strands = 4;

/// A vector of sums, cut into the chunks that are under way together by this way, which is not MPI's.
[[nodiscard]] collective::Stream cut_sums(const mpi::Context& context, SumWay way, Index elements, Index element_bytes);

/// Appends what brings the sums of all ranks to all ranks, in place, segment by segment. What is left to choice goes
/// through all levels of the nodes. The same bits on all ranks, and whatever is appended after it.
///
/// Sources: for `two_level` SALaR as COFFEE, section V.B, describes it; for `coffee` sections V.A and V.B.
[[nodiscard]] collective::Stream append_exchange(collective::Graph& graph, const mpi::Context& context, SumWay way,
                                                 const collective::Stream& stream, collective::Place sums,
                                                 const schedule::Combine& combine);

}  // namespace plait::sinkhorn
