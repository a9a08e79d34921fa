#include "plait/layout/text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"

namespace plait::layout {

namespace {

std::string kind_text(const LayoutSpec& spec) {
  switch (spec.kind) {
    case LayoutKind::block_cyclic:
      return fmt::format("block-cyclic:{}x{}@{}x{}", spec.block_rows, spec.block_columns, spec.grid_rows,
                         spec.grid_columns);
    case LayoutKind::rows: return fmt::format("rows@{}", spec.grid_rows);
    case LayoutKind::columns: return fmt::format("cols@{}", spec.grid_columns);
    case LayoutKind::blocks: return fmt::format("blocks@{}x{}", spec.grid_rows, spec.grid_columns);
    case LayoutKind::custom: break;
  }
  return "custom:" + spec.path;
}

Layout whole_layout(const LayoutSpec& spec, Shape shape) {
  const StorageOrder storage = spec.storage.value_or(default_storage(spec.kind));
  const Owners owners = spec.listed_ranks.empty()
                            ? Owners::grid(spec.grid_rows, spec.grid_columns, spec.order)
                            : Owners::listed(spec.grid_rows, spec.grid_columns, spec.listed_ranks);
  if (spec.kind == LayoutKind::block_cyclic) {
    return Layout::block_cyclic(shape, spec.block_rows, spec.block_columns, owners, spec.first_row_part,
                                spec.first_column_part, storage);
  }
  return {Axis::even(shape.rows, spec.grid_rows), Axis::even(shape.columns, spec.grid_columns), owners, storage};
}

}  // namespace

std::string LayoutSpec::text() const {
  std::string text = kind_text(*this);
  if (order == GridOrder::column) text += ",order=col";
  if (first_row_part != 0 || first_column_part != 0)
    text += fmt::format(",src={},{}", first_row_part, first_column_part);
  if (storage) text += *storage == StorageOrder::row_major ? ",storage=row" : ",storage=col";
  if (!listed_ranks.empty()) text += fmt::format(",ranks={}", fmt::join(listed_ranks, ","));
  if (within) text += fmt::format(",within={}x{}", within->rows, within->columns);
  if (row != 0 || column != 0) text += fmt::format(",at={},{}", row, column);
  return text;
}

Layout LayoutSpec::on(Shape shape) const {
  if (kind == LayoutKind::custom) {
    throw LayoutError(fmt::format("{} names a file, expected the tiling that the file holds", text()));
  }
  if (!within) return whole_layout(*this, shape);
  try {
    return whole_layout(*this, *within).submatrix(row, column, shape);
  } catch (const ArgumentError& error) {
    throw LayoutError(fmt::format("{} does not suit a matrix of {}: {}", text(), to_string(shape), error.what()));
  }
}

int LayoutSpec::ranks() const {
  if (kind == LayoutKind::custom) {
    throw LayoutError(fmt::format("{} names a file, and only the file tells the number of ranks", text()));
  }
  return listed_ranks.empty() ? Owners::grid(grid_rows, grid_columns, order).ranks()
                              : *std::ranges::max_element(listed_ranks) + 1;
}

}  // namespace plait::layout
