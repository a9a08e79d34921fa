#include "plait/collective/node/node_slices.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "plait/base/memory.hpp"

namespace plait::collective {

void divide_equally(Index n, Index element_bytes, std::span<Index> begins) {
  const Index ranks = static_cast<Index>(begins.size()) - 1;
  // The fewest elements that fill whole lines.
  constexpr auto line = static_cast<Index>(Buffer::alignment);
  const Index whole = line / std::gcd(line, element_bytes);
  const Index share = ((n + ranks - 1) / ranks + whole - 1) / whole * whole;
  for (Index rank = 0; rank < ranks; ++rank) begins[at(rank)] = rank > n / share ? n : std::min(n, rank * share);
  begins.back() = n;
}

void divide_for_root(Index n, Index element_bytes, int root, std::span<Index> begins) {
  if (begins.size() > 3) return divide_equally(n, element_bytes, begins);
  for (std::size_t rank = 0; rank < begins.size(); ++rank) begins[rank] = rank > static_cast<std::size_t>(root) ? n : 0;
}

void divide_by_counts(std::span<const Index> counts, std::span<Index> begins) {
  begins[0] = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) begins[rank + 1] = begins[rank] + counts[rank];
}

Index longest_slice(std::span<const Index> begins) {
  Index longest = 0;
  for (std::size_t rank = 0; rank + 1 < begins.size(); ++rank) {
    longest = std::max(longest, begins[rank + 1] - begins[rank]);
  }
  return longest;
}

Piece piece_of(std::span<const Index> begins, int owner, Index round, Index length) {
  const Index end = begins[at(owner) + 1];
  const Index begin = begins[at(owner)];
  const Index done = std::min(round * length, end - begin);
  return {begin + done, begin + done + std::min(length, end - begin - done)};
}

}  // namespace plait::collective
