#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/course.hpp"

namespace plait::sinkhorn {

/// One factor for each row, which is that of the column, too: B(i, j) = x[i] A(i, j) x[j]. The same on all ranks.
struct Balance {
  Outcome outcome;
  std::vector<double> x;  // of all rows; 0 for those that were masked
  Index masked = 0;       // how many rows have no entries but zeros
};

/// Finds the x > 0 with which all rows, and so all columns, of  diag(x) A diag(x)  have one sum, where A is symmetric:
///
///     x[i] ← x[i] sqrt(sum / (x[i] Σ_j A(i, j) x[j]))
///
/// Rows without entries can't have a sum: they are masked, which changes nothing for the others. An iteration reads the
/// matrix once and has one message, the products of all rows. Without the root, which is Sinkhorn and Knopp's iteration
/// with one vector, x alternates between two limits. With it the error near the end is multiplied in each
/// iteration by (1 - lambda) / 2 at most, where lambda is the lowest eigenvalue of the balanced matrix divided by its
/// sum, >= -1: by a half at most for a positive semidefinite one. That it converges wherever the matrix has support is
/// proved, which it is not of Newton's method (Knight and Ruiz, 2013), and there are no inner iterations.
///
/// Where there is no such x, the status says so, with proof; where there is one in the limit only, as entries have to
/// vanish, the reason for the limit of iterations says that there is no total support.
///
/// Every rank has some rows, in row-major order, rank 0 the first ones; any number of them, also none. T: double, or
/// float computed with as double. Blocks of zeros, such as rows and columns of contact maps that are masked, are read
/// once.
///
/// Collective over `context`.
///
/// \param sum  what each row is to sum up to
/// \throws ArgumentError  on all ranks: a sum that is not positive and finite, limits that are none; a matrix that is
///                        not square, an entry that is negative, infinite or no number, two entries that should be one
///                        and differ; a state to go on from that does not fit
///
/// Source: Knight, Ruiz, Uçar, "A symmetry preserving algorithm for matrix scaling", 2014.
template <class T>
[[nodiscard]] Balance balance(mpi::Context& context, matrix_view<const T> rows, double sum = 1,
                              const Limits& limits = {});

/// The same of a sparse matrix of which both triangles are stored. Where iterations are slow it is decided once, on
/// rank 0, whether the matrix has support and total support, if that takes no more than `most_support_bytes` there: see
/// `SparseSupport`.
template <class T>
[[nodiscard]] Balance balance(mpi::Context& context, const layout::SparseRows<T>& rows, double sum = 1,
                              const Limits& limits = {});

/// One entry of B. As symmetric as A is, to the last bit.
[[nodiscard]] inline double balanced_entry(double entry, double x, double y) noexcept {
  return entry * std::max(x, y) * std::min(x, y);
}

/// B in the place of this rank's rows of A, from `first_row` on, by so many threads. Local.
template <class T>
void balance_in_place(matrix_view<T> rows, Index first_row, std::span<const double> x, int threads = 1);
template <class T>
void balance_in_place(layout::SparseRows<T>& rows, std::span<const double> x, int threads = 1);

}  // namespace plait::sinkhorn
