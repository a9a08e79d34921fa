#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::sinkhorn {

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
