#include "bench/redistribute/transfer.hpp"

#include <fmt/format.h>

#include "plait/base/error.hpp"

namespace plait::bench {

namespace {

using layout::GridOrder;
using layout::Layout;
using layout::Owners;

std::string text_of(const Grid& grid) {
  return fmt::format("{}x{}{}", grid.rows, grid.columns, grid.order == GridOrder::column ? "c" : "");
}

const char* text_of(StorageOrder order) { return order == StorageOrder::column_major ? "col" : "row"; }

Layout blocks_on(const Grid& grid, layout::Shape shape, Index block, StorageOrder storage) {
  return Layout::block_cyclic(shape, block, block, Owners::grid(grid.rows, grid.columns, grid.order), 0, 0, storage);
}

}  // namespace

std::string name_of(redistribute::Op op) { return transposes(op) ? "tran" : "gemr2d"; }

std::string name_of(layout::Shape shape) { return fmt::format("{}x{}", shape.rows, shape.columns); }

Transfer BetweenGrids::transfer() const {
  std::string name = fmt::format("{} f64 {} {}>{}", name_of(op), name_of(shape), text_of(from), text_of(to));
  std::string details;
  if (from_block != 32 || to_block != 128) details += fmt::format(" blocks={}>{}", from_block, to_block);
  if (from_storage != StorageOrder::column_major || to_storage != StorageOrder::column_major) {
    details += fmt::format(" storage={}>{}", text_of(from_storage), text_of(to_storage));
  }
  return {std::move(name), blocks_on(from, shape, from_block, from_storage),
          blocks_on(to, apply(op, shape), to_block, to_storage), op, std::move(details)};
}

BetweenGrids between_grids(redistribute::Op op, Index extent, Grid from, Grid to) {
  return {.op = op, .shape = {extent, extent}, .from = from, .to = to};
}

std::vector<std::pair<Grid, Grid>> grids_for(int ranks) {
  switch (ranks) {
    case 1: return {{{1, 1}, {1, 1}}};
    case 2: return {{{2, 1}, {1, 2}}, {{2, 1}, {2, 1}}};
    case 4: return {{{2, 2}, {2, 2}}};
    default: throw ArgumentError(fmt::format("started on {} ranks, expected 1, 2 or 4", ranks));
  }
}

}  // namespace plait::bench
