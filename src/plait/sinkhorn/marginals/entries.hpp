#pragma once

#include <cstddef>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/sinkhorn/sweep/slabs.hpp"

namespace plait::sinkhorn {

/// What makes an entry one that a plan may have: of a matrix that is scaled, or of costs.
enum class Support : unsigned char { positive, finite };

/// Whether rows and columns may live on such an entry.
template <Support support, class T>
[[nodiscard]] bool counts(T entry) {
  return support == Support::positive ? entry > 0 : entry <= std::numeric_limits<T>::max();
}

/// \param what  they are, for messages: "the costs are"
/// \throws ArgumentError  rows that are not row-major
template <class T>
void expect_row_major(matrix_view<T> rows, std::string_view what) {
  if (rows.empty() || rows.order() == StorageOrder::row_major) return;
  throw ArgumentError(
      fmt::format("{} column-major, expected row-major: the transpose is, with marginals exchanged", what));
}

/// Of the whole matrix, of which these are a rank's rows.
template <class T>
[[nodiscard]] Index columns_of(matrix_view<T> rows) {
  return rows.columns();
}
template <class T>
[[nodiscard]] Index columns_of(const layout::SparseRows<T>& rows) {
  return rows.shape.columns;
}

/// Calls f(column, entry) for what is stored of row i of a rank's rows: all of it, or the entries of sparse rows.
///
/// \pre  rows is row-major
template <class T, class F>
void for_each_entry(matrix_view<T> rows, Index i, const F& f) {
  T* const row = rows.data() + i * rows.leading_dimension();
  for (std::size_t j = 0; j < static_cast<std::size_t>(rows.columns()); ++j) f(j, row[j]);
}

template <class Rows, class F>
  requires requires(Rows& rows) { rows.columns_of(0); }
void for_each_entry(Rows& rows, Index i, const F& f) {
  const auto columns = rows.columns_of(i);
  const auto values = rows.values_of(i);
  for (std::size_t k = 0; k < columns.size(); ++k) f(std::size_t{columns[k]}, values[k]);
}

/// Calls f(row, column, entry) for all that is stored, rows by so many threads.
template <class Rows, class F>
void for_all_entries(Rows& rows, int threads, const F& f) {
  threads = threads_for(rows.rows() * columns_of(rows), threads);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (Index i = 0; i < rows.rows(); ++i) {
    for_each_entry(rows, i, [&](std::size_t j, auto& entry) { f(static_cast<std::size_t>(i), j, entry); });
  }
}

}  // namespace plait::sinkhorn
