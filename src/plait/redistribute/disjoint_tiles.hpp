#pragma once

#include <span>
#include <vector>

#include "plait/redistribute/operands.hpp"
#include "plait/redistribute/overlap.hpp"
#include "plait/redistribute/tile.hpp"

namespace plait::redistribute {

/// Checks that no target has memory in common with a source or with the target of another pair. What it needs for that
/// it keeps from one execution to the next.
class DisjointTiles {
 public:
  /// \param rank  of this process, for the text
  /// \throws ArgumentError  naming two tiles
  void expect(std::span<const Operands> operands, int rank);

 private:
  struct TileNumber {
    std::size_t pair;
    std::size_t tile;
  };
  /// Tiles of several pairs, in bytes so that those of different element types can be compared.
  struct Tiles {
    std::vector<TileMemory> memory;
    std::vector<TileNumber> numbers;

    void clear();
    void add(std::size_t pair, std::span<const TileMemory> tiles, Index element_bytes);
  };
  void expect_none(const Overlap& overlap, const Tiles& tiles, const char* which, std::size_t pairs, int rank) const;

  Tiles sources_, targets_;
  OverlapSearch search_;
};

}  // namespace plait::redistribute
