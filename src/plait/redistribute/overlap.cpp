#include "plait/redistribute/overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace plait::redistribute {

namespace {

struct Bytes {
  std::intptr_t begin;
  std::intptr_t end;
};

Bytes bytes_of(const TileMemory& memory, Index element_bytes) {
  const auto begin = reinterpret_cast<std::intptr_t>(memory.tile.data);
  if (memory.minor == 0 || memory.major == 0) return {begin, begin};
  return {begin, begin + ((memory.major - 1) * memory.tile.leading_dimension + memory.minor) * element_bytes};
}

bool ranges_meet(Index begin, Index length, Index other_begin, Index other_length) {
  return std::max(begin, other_begin) < std::min(begin + length, other_begin + other_length);
}

// For two tiles whose spans of memory meet. Exact where both have one leading dimension and order, as submatrices of
// one array do; otherwise memory between the columns of a tile counts as its own.
bool elements_meet(const TileMemory& a, const TileMemory& b, Index element_bytes) {
  const Index leading = a.tile.leading_dimension;
  const auto distance = reinterpret_cast<std::intptr_t>(b.tile.data) - reinterpret_cast<std::intptr_t>(a.tile.data);
  if (leading != b.tile.leading_dimension || a.tile.order != b.tile.order || distance % element_bytes != 0) return true;
  const Index elements = distance / element_bytes;
  const Index along = ((elements % leading) + leading) % leading;
  const Index across = (elements - along) / leading;
  const auto meet_at = [&](Index minor, Index major) {
    return ranges_meet(0, a.minor, minor, b.minor) && ranges_meet(0, a.major, major, b.major);
  };
  // The second tile's columns may begin in one column of the first and reach into the next.
  return meet_at(along, across) || meet_at(along - leading, across + 1);
}

}  // namespace

Overlap find_overlap(std::span<const TileMemory> source, std::span<const TileMemory> target, Index element_bytes) {
  std::vector<std::size_t> order(target.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto begin_of = [&](std::size_t i) { return bytes_of(target[i], element_bytes).begin; };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return begin_of(a) < begin_of(b); });
  // The end of the memory of all targets up to each place of the order: tells where looking back may stop.
  std::vector<std::intptr_t> reach(target.size());
  std::intptr_t furthest = INTPTR_MIN;
  for (std::size_t k = 0; k < order.size(); ++k) {
    furthest = std::max(furthest, bytes_of(target[order[k]], element_bytes).end);
    reach[k] = furthest;
  }
  for (std::size_t s = 0; s < source.size(); ++s) {
    const Bytes mine = bytes_of(source[s], element_bytes);
    if (mine.begin == mine.end) continue;
    const auto after = std::lower_bound(order.begin(), order.end(), mine.end,
                                        [&](std::size_t i, std::intptr_t end) { return begin_of(i) < end; });
    const auto reaching = static_cast<std::size_t>(after - order.begin());
    for (std::size_t back = 1; back <= reaching && reach[reaching - back] > mine.begin; ++back) {
      const std::size_t k = reaching - back;
      const TileMemory& other = target[order[k]];
      const Bytes its = bytes_of(other, element_bytes);
      if (its.begin == its.end || its.end <= mine.begin) continue;
      if (elements_meet(source[s], other, element_bytes)) return {static_cast<Index>(s), static_cast<Index>(order[k])};
    }
  }
  return {};
}

}  // namespace plait::redistribute
