#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/sweep/sweep.hpp"

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

/// Reads the matrix once, for several problems. Collective over `context`; as many messages as for one problem.
///
/// \throws ArgumentError  on all ranks, naming the first such: an entry that is negative, infinite or no number, a row
///                        or column of zeros of which the marginal is not 0; of several problems the number of the
///                        first that is wrong
template <class T>
void check_matrix(mpi::Context& context, matrix_view<const T> rows, std::span<const CheckedMarginals> problems,
                  const Columns& part = {});

/// The same of a sparse matrix, in which what is not named is 0.
template <class T>
void check_matrix(mpi::Context& context, const layout::SparseRows<T>& rows, std::span<const CheckedMarginals> problems);

/// The same of a cost matrix: entries may be negative, and +infinity for what is forbidden.
///
/// \return  the largest absolute value of a finite entry, of all ranks
/// \throws ArgumentError  on all ranks: an entry that is -infinity or no number, a row or column of +infinity of which
///                        the marginal is not 0; of several problems the number of the first that is wrong
template <class T>
[[nodiscard]] double check_costs(mpi::Context& context, matrix_view<const T> rows,
                                 std::span<const CheckedMarginals> problems);

/// The marginals of several problems, but 0 for rows that have finite costs only to columns without mass, and for such
/// columns: nothing moves there, and where sums must not be missed there is no plan. One pass over the costs, one
/// message. Collective over `context`.
template <class T>
[[nodiscard]] std::vector<CheckedMarginals> reachable(mpi::Context& context, matrix_view<const T> costs,
                                                      std::span<const CheckedMarginals> problems);

/// Entries that should be one may differ by this, relative to the larger one: they may have been computed.
inline constexpr double symmetry_tolerance = 1e-6;

/// Compares a matrix with its transpose, of which pieces go round between the ranks. Collective over `context`.
///
/// \pre  the matrix is square and row-major
/// \throws ArgumentError  on all ranks: two entries that should be one differ, or one of them alone is infinite
template <class T>
void expect_symmetric(mpi::Context& context, matrix_view<const T> rows);

/// The same of a sparse matrix of which both triangles are stored: entries go to the ranks that have their mirror
/// images, a bounded number at a time.
template <class T>
void expect_symmetric(mpi::Context& context, const layout::SparseRows<T>& rows);

}  // namespace plait::sinkhorn
