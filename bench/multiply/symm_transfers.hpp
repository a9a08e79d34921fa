#pragma once

#include <vector>

#include "plait/base/counters.hpp"
#include "plait/base/index.hpp"
#include "plait/dense/symm/options.hpp"
#include "plait/model/placement.hpp"

namespace plait::bench {

namespace symm = dense::symm;

/// What one rank sends to another one.
struct SymmTransfer {
  int from, to;
  Traffic traffic;
};

/// All that is sent for D² (and D³), worked out from the algorithm alone: exactly what plait's own back end sends.
/// Where the MPI library's collectives are asked for, what they would send as chains: each rank but a root gets each
/// block once, in one message.
[[nodiscard]] std::vector<SymmTransfer> symm_transfers_of_square(const symm::Grid& mesh, const symm::Options& options,
                                                                 Index element_bytes);
[[nodiscard]] std::vector<SymmTransfer> symm_transfers_of_square_cube(const symm::Grid& mesh,
                                                                      const symm::Options& options,
                                                                      Index element_bytes);

/// Of one rank.
[[nodiscard]] Exchanged traffic_of(int rank, const std::vector<SymmTransfer>& transfers);

/// What goes over the links of nodes: the most that one of them sends, and receives, and what all of them send.
struct NodeVolume {
  Traffic most_sent, most_received;  ///< which may be those of two nodes
  Traffic total;
  /// What bounds the time where links carry as much both ways at once.
  [[nodiscard]] Index busiest_bytes() const noexcept;
};

[[nodiscard]] NodeVolume node_volume(const model::Placement& placement, const std::vector<SymmTransfer>& transfers);

/// What the literature estimates for Algorithm 4, as bytes of the busiest node, with so many processes on each: all
/// blocks are as large as the largest. A collective among processes of q nodes takes each of these 2(q - 1)/q blocks,
/// as recursive doubling and Rabenseifner's algorithm take of processes. Ranks are numbered along k first, then j, then
/// i, so that those of grd_comm are neighbours. Both products go home along grd_comm, as D³ does; what a node sends of
/// them and what it receives are added. (Another way to count than that of `node_volume`, which counts each message.)
///
/// Source: Huang and Chow, Table IV, whose megabytes are of 2²⁰ bytes; it gives the numbers only, and the rules above
/// are those that give all five of them.
[[nodiscard]] double estimated_node_bytes(Index n, int edge, int ranks_per_node, Index element_bytes);

}  // namespace plait::bench
