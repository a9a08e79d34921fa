#include "bench/redistribute/moved_matrix.hpp"

#include <algorithm>
#include <limits>

#include "plait/layout/distributed_matrix.hpp"

#include "bench/harness/memcpy_limit.hpp"

namespace plait::bench {

using layout::Layout;

namespace {

Index leading_dimension_of(const layout::TileExtent& tile, StorageOrder storage, const Form& form) {
  return std::max({Index{1}, storage == StorageOrder::column_major ? tile.rows : tile.columns, form.leading_dimension});
}

/// Up to the next cache line, where another tile may begin.
Index elements_of(const layout::TileExtent& tile, StorageOrder storage, const Form& form) {
  constexpr Index line = Buffer::alignment / sizeof(double);
  const Index elements =
      leading_dimension_of(tile, storage, form) * (storage == StorageOrder::column_major ? tile.columns : tile.rows);
  return (elements + line - 1) / line * line;
}

/// With the gaps between columns.
Index elements_of(const Layout& layout, int rank, const Form& form) {
  Index elements = 0;
  for (const auto& tile : layout.tiles_of(rank)) elements += elements_of(tile, layout.storage(), form);
  return elements;
}

/// One tile after the other.
std::vector<matrix_view<double>> tiles_in(std::span<double> memory, const Layout& layout, int rank, const Form& form) {
  std::vector<matrix_view<double>> result;
  double* next = memory.data();
  for (const auto& tile : layout.tiles_of(rank)) {
    result.emplace_back(next, tile.rows, tile.columns, leading_dimension_of(tile, layout.storage(), form),
                        layout.storage());
    next += elements_of(tile, layout.storage(), form);
  }
  return result;
}

/// Calls f(row, column, element) for every element of a rank, tile by tile in the order of their memory.
template <class F>
void for_each(const Layout& layout, int rank, std::span<const matrix_view<double>> tiles, F&& f) {
  const auto extents = layout.tiles_of(rank);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const matrix_view<double> tile = tiles[i];
    layout::for_each_index(layout, extents[i].position, tile.order(),
                           [&](Index row, Index column, Index local_row, Index local_column) {
                             f(row, column, tile(local_row, local_column));
                           });
  }
}

// Of A before it is written.
double old_value_at(Index row, Index column) { return static_cast<double>((row + 2 * column) % 16); }

}  // namespace

MovedMemory::MovedMemory(mpi::Context& context, Index elements, bool shared) {
  const Index bytes = elements * Index{sizeof(double)};
  if (shared) {
    shared_ = context.allocate_shared(bytes);
  } else {
    ordinary_ = Buffer(bytes);
  }
}

std::span<double> MovedMemory::span() const noexcept {
  const std::span<std::byte> bytes = ordinary_.size() > 0 ? ordinary_.bytes() : shared_.bytes();
  return {reinterpret_cast<double*>(bytes.data()), bytes.size() / sizeof(double)};
}

MovedMatrix::MovedMatrix(mpi::Context& context, const Layout& from, const Layout& to, redistribute::Op op, Form form)
    : from_(from),
      to_(to),
      rank_(context.rank()),
      op_(op),
      form_(form),
      source_(context, elements_of(from, rank_, form), form.shared),
      // With room for a limit.
      target_(context, std::max(from.elements_of(rank_), elements_of(to, rank_, form)), form.shared),
      source_tiles_(tiles_in(source_.span(), from, rank_, form)),
      target_tiles_(tiles_in(target_.span(), to, rank_, form)) {}

void MovedMatrix::rewrite() {
  // The source last: it is what a caller would have written last, and it is read first.
  std::ranges::fill(target_.span(), std::numeric_limits<double>::quiet_NaN());
  if (form_.beta != 0) {
    for_each(to_, rank_, target_tiles_,
             [](Index row, Index column, double& element) { element = old_value_at(row, column); });
  }
  for_each(from_, rank_, source_tiles_,
           [&](Index row, Index column, double& element) { element = value_at(row, column); });
}

void MovedMatrix::move_by(redistribute::Redistribution& plan) {
  plan.execute<double>(form_.alpha, source_tiles_, form_.beta, std::span<const matrix_view<double>>(target_tiles_));
}

redistribute::Operands MovedMatrix::operands() const {
  return {form_.alpha, source_tiles_, form_.beta, std::span<const matrix_view<double>>(target_tiles_)};
}

Index MovedMatrix::wrong_elements() const {
  Index wrong = 0;
  for_each(to_, rank_, target_tiles_, [&](Index row, Index column, double element) {
    double expected = form_.alpha * (transposes(op_) ? value_at(column, row) : value_at(row, column));
    if (form_.beta != 0) expected += form_.beta * old_value_at(row, column);
    if (element != expected) ++wrong;
  });
  return wrong;
}

// Without the gaps between columns, which nobody has to copy.
std::vector<Contender> MovedMatrix::limits() const {
  const auto elements = static_cast<std::size_t>(from_.elements_of(rank_));
  const std::span<const double> source = source_.span().first(elements);
  const std::span<double> target = target_.span().first(elements);
  if (form_.beta != 0) return {update_limit(target, source, form_.beta)};
  return memcpy_limits(std::as_writable_bytes(target).data(), std::as_bytes(source).data(),
                       static_cast<Index>(source.size_bytes()));
}

// Exact, and another number for each element.
double MovedMatrix::value_at(Index row, Index column) const {
  return static_cast<double>(row * from_.shape().columns + column);
}

}  // namespace plait::bench
