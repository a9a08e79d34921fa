#pragma once

#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"

namespace plait::collective {

/// pairwise: one peer after the other, the k-th being the one k places on for what is sent, and k places back for what
/// is received, so that each rank sends to one and receives from one at a time; spread: the first pieces for all peers,
/// then the second ones, and so on, so that a peer who has much to do, or is slow, holds up nobody.
enum class ExchangeOrder : unsigned char { pairwise, spread };

/// The blocks of both vectors of an exchange, in the order of the group.
struct ExchangedBlocks {
  Blocks sent;
  Blocks received;
};

/// Block j of out on the i-th rank ← block i of in on the j-th, for all i and j; the own block is copied. Blocks have
/// any lengths, zero included: `Blocks::cut` makes them of a rank's row and column of the matrix of all counts.
///
/// Builders append this rank's part; every rank of the group appends its own. All cut alike: a block has the same
/// pieces where it is sent and where it is received.
///
/// \param blocks  for each rank of the group, what is sent to it and what is received from it, with their final
///                operations and readers before stage `begin`
/// \param out     does not overlap `in`
/// \param begin   the first stage, alike on all ranks
/// \return        the blocks: after what the received ones are there, and sent ones may be overwritten
/// \throws ArgumentError  more or fewer blocks than ranks; an own block of other lengths where it is sent than where it
///                        is received
[[nodiscard]] ExchangedBlocks all_to_all(Graph& graph, const Group& group, ExchangeOrder order, ExchangedBlocks blocks,
                                         Place in, Place out, Index begin = 0);

}  // namespace plait::collective
