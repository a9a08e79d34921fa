#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "plait/collective/algorithm/blocks.hpp"

#include "mpi/collective/stream_cases.hpp"
#include "support/collective_traffic.hpp"

namespace plait::test {

/// Of all cases some of each group, for builders that have no root.
inline std::vector<StreamCase> rootless_cases(int ranks) {
  std::vector<StreamCase> cases = stream_cases(ranks);
  std::erase_if(cases, [](const StreamCase& c) { return c.root > 2; });
  return cases;
}

/// The sum of what a formula says of each segment of a case: `formula` takes the bytes of its pieces.
template <class Formula>
Exchanged for_each_segment(const StreamCase& c, Index element_bytes, Formula formula) {
  Exchanged all;
  const auto stream = collective::Stream::cut(c.n, element_bytes, c.strands, c.segment);
  for (const collective::Segment& segment : stream.segments()) {
    all += formula(bytes_of_pieces(segment.elements(), element_bytes, static_cast<int>(c.ranks.size())));
  }
  return all;
}

/// The sum of what a formula says of each chunk: `formula` takes the bytes of its pieces.
template <class Formula>
Exchanged for_each_chunk(const collective::Blocks& blocks, Formula formula) {
  Exchanged all;
  for (const collective::Chunk& chunk : blocks.chunks()) {
    std::vector<Index> bytes;
    for (const collective::Segment& piece : chunk) bytes.push_back(piece.elements() * blocks.element_bytes());
    all += formula(bytes);
  }
  return all;
}

/// Ragged lengths of as many blocks as the case has ranks, some of them empty, with about its n elements in all.
inline std::vector<Index> ragged_counts(const StreamCase& c, std::uint64_t seed) {
  std::vector<Index> counts;
  const Index most = 2 * c.n / static_cast<Index>(c.ranks.size());
  for (std::size_t i = 0; i < c.ranks.size(); ++i) {
    const auto bits = random_bits(seed, i);
    counts.push_back(bits % 4 == 0 ? 0 : static_cast<Index>(bits / 4 % static_cast<std::uint64_t>(most + 1)));
  }
  return counts;
}

/// Where each block begins, and behind them where the last one ends.
inline std::vector<Index> begins_of(const std::vector<Index>& counts) {
  std::vector<Index> begins(counts.size() + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
  return begins;
}

inline std::vector<Index> bytes_of(std::vector<Index> counts, Index element_bytes) {
  for (Index& count : counts) count *= element_bytes;
  return counts;
}

}  // namespace plait::test
