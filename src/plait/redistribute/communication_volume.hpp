#pragma once

#include <span>

#include "plait/base/index.hpp"
#include "plait/redistribute/relabel/incoming.hpp"

namespace plait::redistribute {

/// What a batch moves between different ranks.
struct CommunicationVolume {
  Index messages = 0;            ///< one for each pair of ranks that exchange something; long ones travel in chunks
  Index bytes = 0;               ///< in all
  Index largest_rank_bytes = 0;  ///< of the rank that sends or receives most
};

/// Where every rank has one tile of each matrix at most, as in process grids, the cost grows with the number of ranks
/// and not with that of messages.
///
/// \param rank_of  which rank plays each role of the target, for at least incoming.ranks() of them; empty: its own
[[nodiscard]] CommunicationVolume communication_volume(Incoming& incoming, std::span<const int> rank_of = {});

/// The bytes of it that go from node to node.
///
/// \param node_of  the node of each rank, any numbers
[[nodiscard]] Index bytes_between_nodes(Incoming& incoming, std::span<const int> node_of,
                                        std::span<const int> rank_of = {});

}  // namespace plait::redistribute
