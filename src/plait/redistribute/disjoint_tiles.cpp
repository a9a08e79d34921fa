#include "plait/redistribute/disjoint_tiles.hpp"

#include <string>

#include "plait/base/error.hpp"

namespace plait::redistribute {

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
