#include "plait/sinkhorn/sweep/filled_parts.hpp"

#include "plait/simd/row_block.hpp"

namespace plait::sinkhorn {

namespace {

template <class T>
bool has_entry(const T* row, Index columns) {
  unsigned any = 0;
  for (Index j = 0; j < columns; ++j) any |= static_cast<unsigned>(simd::widened<simd::FloatOf<T>>(row[j]) != 0);
  return any != 0;
}

template <class T>
bool is_filled(matrix_view<const T> rows, Index row, Index column, Index count, Index columns) {
  const T* from = rows.data() + row * rows.leading_dimension() + column;
  constexpr Index glance = 8;  // most blocks that are filled are so from the beginning
  if (has_entry(from, std::min(glance, columns))) return true;
  for (Index i = 0; i < count; ++i) {
    if (has_entry(from + i * rows.leading_dimension(), columns)) return true;
  }
  return false;
}

}  // namespace

template <class T>
FilledParts::FilledParts(matrix_view<const T> rows) : starts_{0}, all_(rows.rows() * rows.columns()) {
  for (Index row = 0; row < rows.rows(); row += rows_at_a_time) {
    const Index count = std::min(rows_at_a_time, rows.rows() - row);
    bool goes_on = false;
    for (Index column = 0; column < rows.columns(); column += columns_at_a_time) {
      const Index columns = std::min(columns_at_a_time, rows.columns() - column);
      if (!is_filled(rows, row, column, count, columns)) {
        goes_on = false;
        continue;
      }
      if (!goes_on) runs_.push_back({column, 0});
      goes_on = true;
      runs_.back().count += columns;
      filled_ += count * columns;
    }
    starts_.push_back(static_cast<Index>(runs_.size()));
  }
}

template FilledParts::FilledParts(matrix_view<const double>);
template FilledParts::FilledParts(matrix_view<const float>);
template FilledParts::FilledParts(matrix_view<const simd::BFloat16>);

}  // namespace plait::sinkhorn
