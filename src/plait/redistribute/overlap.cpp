#include "plait/redistribute/overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

#include "plait/base/error.hpp"

namespace plait::redistribute {

namespace {

struct Bytes {
  std::intptr_t begin;
  std::intptr_t end;
};

Bytes extent_of(const TileMemory& memory, Index element_bytes) {
  const auto begin = reinterpret_cast<std::intptr_t>(memory.tile.data);
  return {begin, begin + memory.span() * element_bytes};
}

bool ranges_meet(Index begin, Index length, Index other_begin, Index other_length) {
  return std::max(begin, other_begin) < std::min(begin + length, other_begin + other_length);
}

// For two tiles whose spans of memory meet. Exact where both have one leading dimension and order, as submatrices of
// one array do, or one has a single column only; otherwise memory between the columns of a tile counts as its own.
bool elements_meet(const TileMemory& a, const TileMemory& b, Index element_bytes) {
  if (a.major == 1 && b.major == 1) return true;  // nothing lies between
  const Tile& wide = a.major == 1 ? b.tile : a.tile;
  const Index leading = wide.leading_dimension;
  const auto fits = [&](const TileMemory& one) {
    if (one.major == 1) return one.minor <= leading;
    return one.tile.leading_dimension == leading && one.tile.order == wide.order;
  };
  const auto distance = reinterpret_cast<std::intptr_t>(b.tile.data) - reinterpret_cast<std::intptr_t>(a.tile.data);
  if (!fits(a) || !fits(b) || distance % element_bytes != 0) return true;
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

bool have_common_memory(const TileMemory& a, const TileMemory& b, Index element_bytes) {
  const Bytes first = extent_of(a, element_bytes);
  const Bytes second = extent_of(b, element_bytes);
  return std::max(first.begin, second.begin) < std::min(first.end, second.end) && elements_meet(a, b, element_bytes);
}

Overlap OverlapSearch::find(std::span<const TileMemory> source, std::span<const TileMemory> target, Index element_bytes,
                            const std::function<bool(std::size_t, std::size_t)>& concerns) {
  if (source.empty() || target.empty()) return {};
  order_.resize(target.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  const auto begin_of = [&](std::size_t i) { return extent_of(target[i], element_bytes).begin; };
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return begin_of(a) < begin_of(b); });
  // Tells where looking back may stop.
  reach_.resize(target.size());
  std::intptr_t furthest = INTPTR_MIN;
  for (std::size_t k = 0; k < order_.size(); ++k) {
    furthest = std::max(furthest, extent_of(target[order_[k]], element_bytes).end);
    reach_[k] = furthest;
  }
  for (std::size_t s = 0; s < source.size(); ++s) {
    const Bytes mine = extent_of(source[s], element_bytes);
    const auto after = std::lower_bound(order_.begin(), order_.end(), mine.end,
                                        [&](std::size_t i, std::intptr_t end) { return begin_of(i) < end; });
    const auto reaching = static_cast<std::size_t>(after - order_.begin());
    for (std::size_t back = 1; back <= reaching && reach_[reaching - back] > mine.begin; ++back) {
      const std::size_t other = order_[reaching - back];
      if ((!concerns || concerns(s, other)) && have_common_memory(source[s], target[other], element_bytes)) {
        return {static_cast<Index>(s), static_cast<Index>(other)};
      }
    }
  }
  return {};
}

void DisjointTiles::Tiles::clear() {
  memory.clear();
  numbers.clear();
}

void DisjointTiles::Tiles::add(std::size_t pair, std::span<const TileMemory> tiles, Index element_bytes) {
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    TileMemory in_bytes = tiles[i];
    in_bytes.tile.leading_dimension *= element_bytes;
    in_bytes.minor *= element_bytes;
    memory.push_back(in_bytes);
    numbers.push_back({pair, i});
  }
}

void DisjointTiles::expect(std::span<const Operands> operands, int rank) {
  sources_.clear();
  targets_.clear();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operands& its = operands[i];
    targets_.add(i, its.target(), its.element_bytes());
    if (its.reads_source()) sources_.add(i, its.source(), its.element_bytes());
  }
  const auto are_of_different_pairs = [this](std::size_t one, std::size_t other) {
    return targets_.numbers[one].pair > targets_.numbers[other].pair;
  };
  if (operands.size() > 1) {
    expect_none(search_.find(targets_.memory, targets_.memory, 1, are_of_different_pairs), targets_, "target",
                operands.size(), rank);
  }
  expect_none(search_.find(sources_.memory, targets_.memory, 1), sources_, "source", operands.size(), rank);
}

void DisjointTiles::expect_none(const Overlap& overlap, const Tiles& tiles, const char* which, std::size_t pairs,
                                int rank) const {
  if (overlap.source < 0) return;
  const auto describe = [pairs](const char* name, const TileNumber& number) {
    return std::string(name) + " tile " + std::to_string(number.tile) +
           (pairs == 1 ? "" : " of pair " + std::to_string(number.pair));
  };
  throw ArgumentError(describe(which, tiles.numbers[static_cast<std::size_t>(overlap.source)]) + " and " +
                      describe("target", targets_.numbers[static_cast<std::size_t>(overlap.target)]) + " of rank " +
                      std::to_string(rank) + " have memory in common: A and B must not overlap");
}

}  // namespace plait::redistribute
