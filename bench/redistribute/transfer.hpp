#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/layout.hpp"
#include "plait/layout/owners.hpp"
#include "plait/layout/shape.hpp"
#include "plait/redistribute/op.hpp"

namespace plait::bench {

/// A ← op(B) for a matrix B of doubles: what the benchmarks move.
struct Transfer {
  std::string name;  // such as `gemr2d f64 8000x8000 2x1>1x2`: operation, type, shape of B, process grids
  layout::Layout from;
  layout::Layout to;
  redistribute::Op op = redistribute::Op::identity;
  std::string details = {};  // such as ` blocks=128>32`, where the layouts are none of the usual ones
};

struct Grid {
  Index rows;
  Index columns;
  layout::GridOrder order = layout::GridOrder::row;
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// A transfer between block-cyclic layouts, as ScaLAPACK has them.
struct BetweenGrids {
  redistribute::Op op;
  layout::Shape shape;  // of B
  Grid from;
  Grid to;
  Index from_block = 32;
  Index to_block = 128;
  StorageOrder from_storage = StorageOrder::column_major;
  StorageOrder to_storage = StorageOrder::column_major;

  [[nodiscard]] Transfer transfer() const;
};

/// From 32 x 32 into 128 x 128 blocks of a square matrix, as usual.
[[nodiscard]] BetweenGrids between_grids(redistribute::Op op, Index extent, Grid from, Grid to);

/// From which into which process grids the benchmarks move matrices: first those that every benchmark uses.
///
/// \throws ArgumentError  unless there are 1, 2 or 4 ranks
[[nodiscard]] std::vector<std::pair<Grid, Grid>> grids_for(int ranks);

/// `gemr2d` or `tran`, after ScaLAPACK's p?gemr2d and p?tran.
[[nodiscard]] std::string name_of(redistribute::Op op);

/// `8000x8000`
[[nodiscard]] std::string name_of(layout::Shape shape);

}  // namespace plait::bench
