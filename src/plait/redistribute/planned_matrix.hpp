#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/exchange/transform.hpp"
#include "plait/redistribute/matrix_pair.hpp"
#include "plait/redistribute/operands.hpp"
#include "plait/redistribute/packages/packages.hpp"
#include "plait/redistribute/tile.hpp"

namespace plait::redistribute {

/// One pair of matrices of a plan, on one rank: what it sends, receives and keeps, and during an execution where that
/// is.
///
/// op(B) is B with its layout and its tiles read the other way round, so that all that is left is to copy between two
/// layouts of one shape whose tiles may be stored in different orders.
struct PlannedMatrix {
  /// \param its_pair  outlives it
  PlannedMatrix(const MatrixPair& its_pair, int rank);

  /// \pre  the operands fit the pair
  void bind(const mpi::Context& context, const Operands& operands);

  const MatrixPair& pair;
  std::vector<layout::TileExtent> source_tiles, target_tiles;  ///< that this rank has to bring
  layout::Layout op_from;
  std::vector<Index> source_order;  ///< of op_from's tiles, in the list of B's
  Packages packages;
  // Of the execution under way.
  std::vector<Tile> source;
  std::vector<Tile> target;
  std::vector<mpi::SharedPlace> shared_source, shared_target;  ///< of the same tiles, if all of them are shared
  bool is_source_shared = false;                               ///< lies in shared memory, all of it
  bool is_target_shared = false;
  Transform transform;
};

}  // namespace plait::redistribute
