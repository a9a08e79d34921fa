#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/redistribute/operands.hpp"
#include "plait/redistribute/tile.hpp"

namespace plait::redistribute {

/// Whether two tiles have an element of memory in common. Submatrices of one array that lie beside each other, sharing
/// a leading dimension, have none.
[[nodiscard]] bool have_common_memory(const TileMemory& a, const TileMemory& b, Index element_bytes);

/// A source tile and a target tile that have an element of memory in common; -1 and -1 if there are none.
struct Overlap {
  Index source = -1;
  Index target = -1;
};

/// Searches for overlaps, in memory that it keeps from one search to the next.
class OverlapSearch {
 public:
  /// \param concerns  tells by their numbers which source and target must not meet; none: all of them
  [[nodiscard]] Overlap find(std::span<const TileMemory> source, std::span<const TileMemory> target,
                             Index element_bytes,
                             const std::function<bool(std::size_t source, std::size_t target)>& concerns = nullptr);

 private:
  std::vector<std::size_t> order_;    // of the targets, by where they begin
  std::vector<std::intptr_t> reach_;  // the end of all targets up to each place of the order
};

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
