#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "mpi/collective/streamed.hpp"

namespace plait::test {

/// Groups of 1 to 9 ranks, or of all if these are more, in several orders; all roots of each; lengths around what the
/// strands and segments make of them. Few of each kind, so that many builders can be put through them.
inline std::vector<StreamCase> stream_cases(int ranks) {
  std::vector<StreamCase> cases;
  std::uint64_t seed = 0;
  for (int size = ranks <= 9 ? 1 : ranks; size <= ranks; ++size) {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    const int first = size % 3 == 0 ? ranks - size : 0;
    std::vector<int> group(all.begin() + first, all.begin() + first + size);
    if (size % 2 == 0) std::reverse(group.begin(), group.end());
    for (int root = 0; root < size; ++root) {
      const auto pick = [&](std::initializer_list<Index> choices) {
        return *(choices.begin() + random_bits(77, seed++) % choices.size());
      };
      const Index n = pick({0, 1, 2, size - 1, size + 1, 100, 257, 1000});
      const Index segment = std::max(pick({1, 7, 64, 1000}), n / 40);
      const auto strands = static_cast<int>(pick({1, 2, 3, 5, 20}));
      cases.push_back({group, root, n, strands, segment, pick({0, 1}) == 1});
    }
  }
  return cases;
}

}  // namespace plait::test
