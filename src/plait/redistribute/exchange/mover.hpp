#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/node/topology.hpp"
#include "plait/redistribute/exchange/transform.hpp"
#include "plait/redistribute/packages/pieces.hpp"
#include "plait/redistribute/tile.hpp"
#include "plait/simd/transform/copy.hpp"
#include "plait/simd/transform/transpose.hpp"

namespace plait::redistribute {

/// Moves pieces of one matrix between tiles and messages, with as many OpenMP threads as the rank is told to have, or
/// else its share of the node's cores. Destinations are written in the order of their memory: whole columns (rows)
/// across all runs, however short the runs are.
class Mover {
 public:
  /// \param to         the layout of the target tiles
  /// \param packed     the order of elements within a piece of a message
  /// \param most_runs  the largest number of runs of a panel: room is made once, moving allocates nothing
  /// \param topology   says how many threads there are; outlives this
  Mover(layout::Layout to, StorageOrder packed, std::size_t most_runs, Index piece_elements,
        const mpi::NodeTopology& topology);

  /// From a source tile into a message that begins at `message`; a plain copy.
  void pack(const PanelPiece& piece, const Tile& source, std::byte* message, Index element_bytes,
            simd::Stores stores = simd::Stores::cached);
  /// From a message into a target tile.
  void unpack(const PanelPiece& piece, const std::byte* message, const Tile& target, const Transform& transform);
  /// From a source tile into a target tile.
  void move(const PanelPiece& piece, const Tile& source, const Tile& target, const Transform& transform,
            simd::Gaps gaps = simd::Gaps::skipped);

 private:
  /// Neighbours along one direction, in both operands.
  using Stretch = simd::ElementRun;
  enum class End : unsigned char { tile, message };

  static void stretches(const PackedRuns& runs, Index begin, Index length, End source, End target, Index longest,
                        std::vector<Stretch>& result);
  void move_product(const PanelPiece& piece, const Tile& source, End source_end, const Tile& target, End target_end,
                    const Transform& transform, simd::Gaps gaps);
  static void transpose_product(const Tile& source, const Tile& target, const Transform& transform,
                                std::span<const Stretch> rows, std::span<const Stretch> columns, int threads);
  void move_rectangles(const PanelPiece& piece, const Tile& source, End source_end, const Tile& target,
                       const Transform& transform);
  [[nodiscard]] int threads_for(const PanelPiece& piece) const;
  [[nodiscard]] Tile message_tile(const PanelPiece& piece, std::byte* message) const;

  layout::Layout to_;
  StorageOrder packed_;
  const mpi::NodeTopology& topology_;
  std::vector<Stretch> rows_, columns_;
  std::vector<simd::CopiedRun> runs_;
};

}  // namespace plait::redistribute
