#include "plait/sinkhorn/grid/grid_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "plait/sinkhorn/sweep/row_blocks.hpp"

namespace plait::sinkhorn {

namespace {

/// Rows go through one kernel only, whose reads the processor foresees.
template <class T, class F>
void for_each_few_rows(matrix_view<const T> block, F&& f) {
  for (Index first = 0; first < block.rows(); first += simd::most_rows_at_a_time) {
    f(first, block_of(block, first, std::min(simd::most_rows_at_a_time, block.rows() - first)));
  }
}

/// The factor that gives a sum its marginal; notes if there is none.
template <class A>
A factor(double marginal, A sum, bool& is_starved) {
  if (marginal == 0) return A{0};
  const A quotient = static_cast<A>(marginal / static_cast<double>(sum));
  if (!(quotient > 0) || !std::isfinite(quotient)) is_starved = true;
  return quotient;
}

}  // namespace

template <class T, class A>
GridSweep<T, A>::GridSweep(mpi::Context& row, mpi::Context& column, const BlockPlace& place, matrix_view<const T> block,
                           const CheckedMarginals& marginals, std::span<const A> start)
    : block_(block),
      row_marginals_(marginals.rows),
      column_marginals_(
          std::span(marginals.columns)
              .subspan(static_cast<std::size_t>(place.first_column), static_cast<std::size_t>(place.columns))),
      total_(marginals.total),
      exact_(row.size()),
      over_row_(row, place.rows + exact_.size() + 1),
      over_column_(column, place.columns + 1),
      u_(row_marginals_.size(), A{1}),
      v_(column_marginals_.size(), A{1}),
      v_before_(v_),
      row_sums_(row_marginals_.size() + static_cast<std::size_t>(exact_.size() + 1)),
      column_sums_(column_marginals_.size() + 1) {
  if (start.empty()) return;
  for (std::size_t j = 0; j < v_.size(); ++j) {
    v_[j] = column_marginals_[j] > 0 ? start[static_cast<std::size_t>(place.first_column) + j] : A{0};
  }
}

template <class T, class A>
GridNews GridSweep<T, A>::find_rows() {
  for_each_few_rows(
      block_, [&](Index first, const auto& rows) { kernels_.row_sums(rows, v_.data(), row_sums_.data() + first, {}); });
  return exchange_rows();
}

template <class T, class A>
GridNews GridSweep<T, A>::find_news() {
  std::ranges::fill(row_sums_, A{0});
  return exchange_rows();
}

template <class T, class A>
GridNews GridSweep<T, A>::exchange_rows() {
  const std::span digits = std::span(row_sums_).subspan(u_.size(), static_cast<std::size_t>(exact_.size()));
  const double error = total_ > 0 ? distance_ / total_ : distance_;
  const bool is_number = std::isfinite(error);
  exact_.write(is_number ? error : 0, digits);
  row_sums_.back() = has_starved_column_ || !is_number ? A{1} : A{0};
  over_row_(row_sums_);
  return {exact_.read(digits), row_sums_.back() > 0};
}

template <class T, class A>
bool GridSweep<T, A>::scale_rows() {
  bool is_starved = false;
  for (std::size_t i = 0; i < u_.size(); ++i) u_[i] = factor(row_marginals_[i], row_sums_[i], is_starved);
  std::ranges::fill(column_sums_, A{0});
  for_each_few_rows(block_, [&](Index first, const auto& rows) {
    kernels_.column_sums(rows, u_.data() + first, column_sums_.data(), {});
  });
  column_sums_.back() = is_starved ? A{1} : A{0};
  over_column_(column_sums_);
  return column_sums_.back() == 0;
}

template <class T, class A>
void GridSweep<T, A>::columns() {
  v_before_.swap(v_);
  distance_ = 0;
  has_starved_column_ = false;
  for (std::size_t j = 0; j < v_.size(); ++j) {
    const double sum = static_cast<double>(v_before_[j]) * static_cast<double>(column_sums_[j]);
    distance_ += std::abs(sum - column_marginals_[j]);
    v_[j] = factor(column_marginals_[j], column_sums_[j], has_starved_column_);
  }
}

template class GridSweep<double, double>;
template class GridSweep<float, float>;
template class GridSweep<float, double>;
template class GridSweep<simd::BFloat16, float>;

}  // namespace plait::sinkhorn
