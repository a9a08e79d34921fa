#pragma once

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/counters.hpp"
#include "plait/base/doublings.hpp"
#include "plait/base/rounding.hpp"
#include "plait/collective/algorithm/hierarchical.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/model/pairing.hpp"

/// What the algorithms of `collective` send and receive, by closed formulas: on the `me`-th (`index`-th) of so many
/// ranks, for one segment of so many bytes, or one chunk of pieces of so many bytes that have no gaps.
namespace plait::test {

using collective::AllGatherWay;
using collective::TreeShape;
using model::Pairing;

inline std::size_t at(int index) { return static_cast<std::size_t>(index); }

inline Exchanged added(Exchanged first, const Exchanged& second) { return first += second; }

inline Exchanged broadcast_chain_traffic(Index bytes, int ranks, int root, int me) {
  Exchanged traffic;
  if ((me + 1) % ranks != root) traffic.send(bytes);
  if (me != root) traffic.receive(bytes);
  return traffic;
}

inline Exchanged reduce_chain_traffic(Index bytes, int ranks, int root, int me, bool commutes) {
  const int first = commutes ? root : 0;
  const Exchanged broadcast = broadcast_chain_traffic(bytes, ranks, first, me);
  Exchanged traffic{broadcast.received, broadcast.sent};
  if (first != root && me == first) traffic.send(bytes);
  if (first != root && me == root) traffic.receive(bytes);
  return traffic;
}

// At level k, 2^k beside a rank begins the block of 2^k that it is joined with, if there are so many ranks. The root is
// joined at all levels; another rank up to the one at which it is not the first of its block, or meets the root's.
inline int children(int ranks, int root, int me) {
  const auto bits = [](int value) { return static_cast<unsigned>(value); };
  if (me != root) {
    const int met = std::min(std::countr_zero(bits(me)), static_cast<int>(std::bit_width(bits(root ^ me))) - 1);
    return std::min(met, static_cast<int>(std::bit_width(bits(ranks - 1 - me))));
  }
  int blocks = 0;
  for (int level = 0; level < depth(TreeShape::binomial, ranks); ++level) {
    blocks += ((me >> level) ^ 1) << level < ranks ? 1 : 0;
  }
  return blocks;
}

inline Exchanged broadcast_binomial_traffic(Index bytes, int ranks, int root, int me) {
  Exchanged traffic;
  for (int child = 0; child < children(ranks, root, me); ++child) traffic.send(bytes);
  if (me != root) traffic.receive(bytes);
  return traffic;
}

inline Exchanged reduce_binomial_traffic(Index bytes, int ranks, int root, int me) {
  const Exchanged broadcast = broadcast_binomial_traffic(bytes, ranks, root, me);
  return {broadcast.received, broadcast.sent};
}

// What a rank of a binomial tree passes on belongs to the blocks of 2^k beside it, at the levels k at which it is
// joined with one, as in `broadcast_binomial_traffic`.
inline Exchanged scatter_traffic(std::span<const Index> piece_bytes, TreeShape shape, int root, int me) {
  const int ranks = static_cast<int>(piece_bytes.size());
  const auto bytes = [&](int first, int last) {
    return std::accumulate(piece_bytes.begin() + first, piece_bytes.begin() + std::min(last, ranks), Index{0});
  };
  Exchanged traffic;
  if (shape == TreeShape::linear) {
    if (me != root) traffic.receive(bytes(me, me + 1));
    for (int index = 0; me == root && index < ranks; ++index) {
      if (index != root) traffic.send(bytes(index, index + 1));
    }
    return traffic;
  }
  const auto bits = [](int value) { return static_cast<unsigned>(value); };
  int levels = depth(shape, ranks);
  if (me != root) {
    levels = std::min(std::countr_zero(bits(me)), static_cast<int>(std::bit_width(bits(root ^ me))) - 1);
    traffic.receive(bytes(me, me + (1 << levels)));
  }
  for (int level = 0; level < levels; ++level) {
    const int beside = ((me >> level) ^ 1) << level;
    if (beside < ranks) traffic.send(bytes(beside, beside + (1 << level)));
  }
  return traffic;
}

inline Exchanged gather_traffic(std::span<const Index> piece_bytes, TreeShape shape, int root, int me) {
  const Exchanged scattered = scatter_traffic(piece_bytes, shape, root, me);
  return {scattered.received, scattered.sent};
}

inline Exchanged all_gather_ring_traffic(std::span<const Index> piece_bytes, int index) {
  const int ranks = static_cast<int>(piece_bytes.size());
  Exchanged all;
  for (int block = 0; block < ranks; ++block) {
    if (block != (index + ranks - 1) % ranks) all.send(piece_bytes[at(block)]);
    if (block != index) all.receive(piece_bytes[at(block)]);
  }
  return all;
}

inline Exchanged all_gather_doubling_traffic(std::span<const Index> piece_bytes, int index) {
  const int ranks = static_cast<int>(piece_bytes.size());
  const auto bytes = [&](int begin, int end) {
    return begin < end ? std::accumulate(piece_bytes.begin() + begin, piece_bytes.begin() + end, Index{0}) : Index{0};
  };
  Exchanged all;
  for (int skip = 1; skip < ranks; skip *= 2) {
    const int count = std::min(skip, ranks - skip);
    const int from = (index + skip) % ranks;
    all.send(bytes(index, std::min(index + count, ranks)));
    all.send(bytes(0, index + count - ranks));
    all.receive(bytes(from, std::min(from + count, ranks)));
    all.receive(bytes(0, from + count - ranks));
  }
  return all;
}

/// The bytes of `parts` nearly equal pieces of a segment of so many elements.
inline std::vector<Index> bytes_of_pieces(Index elements, Index element_bytes, int parts) {
  std::vector<Index> bytes;
  for (Index part = 0; part < parts; ++part)
    bytes.push_back((elements / parts + (part < elements % parts ? 1 : 0)) * element_bytes);
  return bytes;
}

inline Index sum(std::span<const Index> bytes) { return std::accumulate(bytes.begin(), bytes.end(), Index{0}); }

inline Exchanged ordered_traffic(std::span<const Index> piece_bytes, int index) {
  const Pairing pairing(static_cast<int>(piece_bytes.size()));
  Exchanged all;
  if (pairing.is_folded(index)) {
    all.send(sum(piece_bytes));
    all.receive(piece_bytes[at(index)]);
    return all;
  }
  if (pairing.acts_for_two(index)) {
    all.receive(sum(piece_bytes));
    all.send(piece_bytes[at(index + 1)]);
  }
  // A block is sent in the round of the lowest bit in which its number differs; it is received as long as none does.
  const int own = pairing.actor_of(index);
  for (int actor = 0; actor < pairing.actors; ++actor) {
    const Index bytes = sum(piece_bytes.subspan(at(pairing.first_rank(actor)), at(pairing.ranks_of(actor))));
    const int alike = actor == own ? pairing.rounds() : std::countr_zero(static_cast<unsigned>(actor ^ own));
    if (actor != own) all.send(bytes);
    for (int round = 0; round < alike; ++round) all.receive(bytes);
  }
  return all;
}

inline Exchanged circulant_traffic(std::span<const Index> piece_bytes, int index) {
  const int ranks = static_cast<int>(piece_bytes.size());
  const int rounds = doublings(ranks);
  // The pieces at distances [begin, end) from a rank, cut where the ring closes.
  const auto add = [&](int from, int begin, int end, auto move) {
    const auto bytes = [&](int first, int last) {
      first = std::max(first, 0);
      last = std::min(last, ranks);
      return first < last ? sum(piece_bytes.subspan(at(first), at(last - first))) : 0;
    };
    move(bytes(from + begin, from + end));
    move(bytes(from + begin - ranks, from + end - ranks));
  };
  Exchanged all;
  for (int round = 0; round < rounds; ++round) {
    const int skip = 1 << round;
    const int end = skip + std::min(skip, ranks - skip);
    const int cut = round == rounds - 2 ? std::clamp(ranks - 2 * skip, skip, end) : end;
    const int before = (index + ranks - skip) % ranks;
    for (const auto& [first, last] : {std::pair(skip, cut), std::pair(cut, end)}) {
      add(index, first, last, [&](Index bytes) { all.send(bytes); });
      add(before, first, last, [&](Index bytes) { all.receive(bytes); });
    }
  }
  return all;
}

inline Exchanged reduce_scatter_halving_traffic(std::span<const Index> piece_bytes, int index, bool commutes) {
  return commutes ? circulant_traffic(piece_bytes, index) : ordered_traffic(piece_bytes, index);
}

inline Exchanged reduce_scatter_ring_traffic(std::span<const Index> piece_bytes, int index, bool commutes) {
  if (!commutes) return reduce_scatter_halving_traffic(piece_bytes, index, commutes);
  const int ranks = static_cast<int>(piece_bytes.size());
  Exchanged all;
  for (int block = 0; block < ranks; ++block) {
    if (block != index) all.send(piece_bytes[at(block)]);
    if (block != (index + 1) % ranks) all.receive(piece_bytes[at(block)]);
  }
  if (ranks == 1) all = {};
  return all;
}

inline Exchanged reduce_scatter_shared_traffic(std::span<const Index> piece_bytes, int index) {
  Exchanged all;
  for (int other = 0; other < static_cast<int>(piece_bytes.size()); ++other) {
    if (other == index) continue;
    all.send(piece_bytes[at(other)]);
    all.receive(piece_bytes[at(index)]);
  }
  return all;
}

inline Exchanged all_gather_shared_traffic(std::span<const Index> piece_bytes, int index) {
  Exchanged all;
  for (int other = 0; other < static_cast<int>(piece_bytes.size()); ++other) {
    if (other == index) continue;
    all.send(piece_bytes[at(index)]);
    all.receive(piece_bytes[at(other)]);
  }
  return all;
}

inline Exchanged allreduce_ring_traffic(Index elements, Index element_bytes, int ranks, int index, bool commutes) {
  const std::vector<Index> bytes = bytes_of_pieces(elements, element_bytes, ranks);
  return added(reduce_scatter_ring_traffic(bytes, index, commutes), all_gather_ring_traffic(bytes, index));
}

inline Exchanged allreduce_rabenseifner_traffic(Index elements, Index element_bytes, int ranks, int index,
                                                bool commutes) {
  const std::vector<Index> bytes = bytes_of_pieces(elements, element_bytes, ranks);
  return added(reduce_scatter_halving_traffic(bytes, index, commutes), all_gather_doubling_traffic(bytes, index));
}

inline Exchanged allreduce_doubling_traffic(Index elements, Index element_bytes, int ranks, int index) {
  const Pairing pairing(ranks);
  const int times = pairing.is_folded(index) ? 1 : pairing.rounds() + (pairing.acts_for_two(index) ? 1 : 0);
  Exchanged all;
  for (int time = 0; time < times; ++time) {
    all.send(elements * element_bytes);
    all.receive(elements * element_bytes);
  }
  return all;
}

inline Exchanged broadcast_scatter_all_gather_traffic(Index elements, Index element_bytes, int ranks, TreeShape shape,
                                                      AllGatherWay way, int root, int me) {
  const std::vector<Index> bytes = bytes_of_pieces(elements, element_bytes, ranks);
  return added(scatter_traffic(bytes, shape, root, me),
               way == AllGatherWay::ring ? all_gather_ring_traffic(bytes, me) : all_gather_doubling_traffic(bytes, me));
}

inline Exchanged reduce_halving_gather_traffic(Index elements, Index element_bytes, int ranks, TreeShape shape,
                                               int root, int me, bool commutes) {
  const std::vector<Index> bytes = bytes_of_pieces(elements, element_bytes, ranks);
  return added(reduce_scatter_halving_traffic(bytes, me, commutes), gather_traffic(bytes, shape, root, me));
}

// Of a block of so many elements.
inline Traffic messages(Index elements, Index element_bytes, Index strands, Index segment_elements) {
  const auto segments = [&](Index length) { return quotient_up(length, segment_elements); };
  const Index shorter = elements / strands;
  const Index longer_strands = elements % strands;
  return {longer_strands * segments(shorter + 1) + (strands - longer_strands) * segments(shorter),
          elements * element_bytes};
}

inline Exchanged all_to_all_traffic(std::span<const Index> sent, std::span<const Index> received, Index element_bytes,
                                    int strands, Index segment_elements, int me) {
  Exchanged traffic;
  for (int index = 0; index < static_cast<int>(sent.size()); ++index) {
    if (index == me) continue;
    traffic.sent += messages(sent[at(index)], element_bytes, strands, segment_elements);
    traffic.received += messages(received[at(index)], element_bytes, strands, segment_elements);
  }
  return traffic;
}

/// What a rank of the hierarchy sends and receives for one segment: on each level, and last in the ring on top.
inline std::vector<Exchanged> allreduce_hierarchical_traffic(Index elements, Index element_bytes,
                                                             const collective::Hierarchy& hierarchy, int rank,
                                                             bool commutes, bool shares_memory) {
  std::vector<Exchanged> all;
  std::vector<int> ranks = hierarchy.ranks;
  bool takes_part = true;  // on this level
  const auto place_in = [rank](const std::vector<int>& group) {
    return static_cast<int>(std::find(group.begin(), group.end(), rank) - group.begin());
  };
  for (const std::vector<int>& sizes : hierarchy.levels) {
    Exchanged& level = all.emplace_back();
    if (!takes_part) continue;
    auto begin = ranks.begin();
    auto own = sizes.begin();
    while (std::find(begin, begin + *own, rank) == begin + *own) begin += *own++;
    const std::vector<int> group(begin, begin + *own);
    const int size = *own;
    const int place = place_in(group);
    const std::vector<Index> bytes = bytes_of_pieces(elements, element_bytes, size);
    const bool shares = shares_memory && all.size() == 1;
    level +=
        shares ? reduce_scatter_shared_traffic(bytes, place) : reduce_scatter_halving_traffic(bytes, place, commutes);
    const bool are_alike = std::count(sizes.begin(), sizes.end(), sizes[0]) == std::ssize(sizes);
    if (are_alike) {
      level += shares ? all_gather_shared_traffic(bytes, place) : all_gather_doubling_traffic(bytes, place);
    } else {
      if (place > 0) level.send(bytes[at(place)]), level.receive(elements * element_bytes);
      for (int other = 1; place == 0 && other < size; ++other) level.receive(bytes[at(other)]);
      if (place < size - 1) level.send(elements * element_bytes);
      takes_part = place == 0;
    }
    std::vector<int> next;  // those of one place in their groups
    for (auto [first, one] = std::pair(ranks.begin(), sizes.begin()); one != sizes.end(); first += *one++)
      next.push_back(*(first + (are_alike ? place : 0)));
    ranks = std::move(next);
    if (are_alike) elements = bytes[at(place)] / element_bytes;
  }
  all.emplace_back();
  if (takes_part) {
    all.back() =
        allreduce_ring_traffic(elements, element_bytes, static_cast<int>(ranks.size()), place_in(ranks), commutes);
  }
  return all;
}

}  // namespace plait::test
