#pragma once

#include <string>

#include "plait/base/index.hpp"
#include "plait/layout/layout.hpp"
#include "plait/redistribute/op.hpp"

namespace plait::bench {

struct Grid {
  Index rows;
  Index columns;
};

/// A square matrix of doubles that goes from 32 x 32 into 128 x 128 blocks, between process grids.
struct BetweenGrids {
  redistribute::Op op;
  Index extent;
  Grid from;
  Grid to;

  [[nodiscard]] layout::Layout source() const;
  [[nodiscard]] layout::Layout target() const;
  /// Such as `gemr2d f64 8000x8000 2x1>1x2`.
  [[nodiscard]] std::string name() const;
};

}  // namespace plait::bench
