#pragma once

#include <span>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::sinkhorn {

/// \param what  "row" or "column"
/// \param dead  what is all that it has: "only zeros"
/// \throws ArgumentError  always: no scaling gives it this marginal
[[noreturn]] void fail_dead(std::string_view what, Index number, std::string_view dead, double marginal);

/// Reads the matrix once. Collective over `context`.
///
/// \throws ArgumentError  on all ranks, naming the first such: an entry that is negative, infinite or no number, a row
///                        or column of zeros of which the marginal is not 0
template <class T>
void check_matrix(mpi::Context& context, matrix_view<const T> rows, const CheckedMarginals& marginals);

/// The same of a sparse matrix, in which what is not named is 0.
template <class T>
void check_matrix(mpi::Context& context, const layout::SparseRows<T>& rows, const CheckedMarginals& marginals);

/// Reads a cost matrix once, for several problems: entries may be negative, and +infinity for what is forbidden.
/// Collective over `context`; as many messages as for one problem.
///
/// \return  the largest absolute value of a finite entry, of all ranks
/// \throws ArgumentError  on all ranks: an entry that is -infinity or no number, a row or column of +infinity of which
///                        the marginal is not 0; of several problems the number of the first that is wrong
template <class T>
[[nodiscard]] double check_costs(mpi::Context& context, matrix_view<const T> rows,
                                 std::span<const CheckedMarginals> problems);

}  // namespace plait::sinkhorn
