#include "bench/moved_matrix.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "plait/layout/distributed_matrix.hpp"

namespace plait::bench {

using layout::Layout;

namespace {

layout::TileExtent tile_of(const Layout& layout, int rank) { return layout.tiles_of(rank).at(0); }

matrix_view<double> view_of(const Layout& layout, int rank, const Array<double>& array) {
  const auto tile = tile_of(layout, rank);
  return {array.data(), tile.rows, tile.columns, std::max(Index{1}, tile.rows)};
}

template <class F>
void for_each(const Layout& layout, int rank, F&& f) {
  layout::for_each_index(layout, tile_of(layout, rank).position, layout.storage(), f);
}

}  // namespace

MovedMatrix::MovedMatrix(int rank, const Layout& from, const Layout& to, redistribute::Op op)
    : from_(from),
      to_(to),
      rank_(rank),
      op_(op),
      source_(from.elements_of(rank)),
      target_(std::max(from.elements_of(rank), to.elements_of(rank))),
      source_view_(view_of(from, rank, source_)),
      target_view_(view_of(to, rank, target_)) {}

void MovedMatrix::rewrite() {
  // The source last: it is what a caller would have written last, and it is read first.
  std::ranges::fill(target_.span(), std::numeric_limits<double>::quiet_NaN());
  for_each(from_, rank_, [&](Index row, Index column, Index local_row, Index local_column) {
    source_view_(local_row, local_column) = value_at(row, column);
  });
}

void MovedMatrix::move_by(redistribute::Redistribution& plan) {
  const matrix_view<const double> source = source_view_;
  plan.execute<double>(1.0, std::span(&source, 1), 0.0, std::span(&target_view_, 1));
}

redistribute::Operands MovedMatrix::operands() const {
  const matrix_view<const double> source = source_view_;
  return {1.0, std::span(&source, 1), 0.0, std::span(&target_view_, 1)};
}

Index MovedMatrix::wrong_elements() const {
  Index wrong = 0;
  for_each(to_, rank_, [&](Index row, Index column, Index local_row, Index local_column) {
    const double expected = transposes(op_) ? value_at(column, row) : value_at(row, column);
    if (target_view_(local_row, local_column) != expected) ++wrong;
  });
  return wrong;
}

// Exact, and another number for each element.
double MovedMatrix::value_at(Index row, Index column) const {
  return static_cast<double>(row * from_.shape().columns + column);
}

}  // namespace plait::bench
