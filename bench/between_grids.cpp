#include "bench/between_grids.hpp"

#include <fmt/format.h>

namespace plait::bench {

namespace {

layout::Layout layout_on(Grid grid, Index extent, Index block) {
  return layout::Layout::block_cyclic({extent, extent}, block, block, layout::Owners::grid(grid.rows, grid.columns));
}

}  // namespace

layout::Layout BetweenGrids::source() const { return layout_on(from, extent, 32); }

layout::Layout BetweenGrids::target() const { return layout_on(to, extent, 128); }

std::string BetweenGrids::name() const {
  return fmt::format("{} f64 {}x{} {}x{}>{}x{}", transposes(op) ? "tran" : "gemr2d", extent, extent, from.rows,
                     from.columns, to.rows, to.columns);
}

}  // namespace plait::bench
