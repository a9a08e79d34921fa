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

/// Reads a cost matrix once: entries may be negative, and +infinity for what is forbidden. Collective over `context`.
///
/// \return  the largest absolute value of a finite entry, of all ranks
/// \throws ArgumentError  on all ranks: an entry that is -infinity or no number, a row or column of +infinity of which
///                        the marginal is not 0
template <class T>
[[nodiscard]] double check_costs(mpi::Context& context, matrix_view<const T> rows, const CheckedMarginals& marginals);

/// The same for several problems with these costs, which are read once for all, by as many messages as for one.
///
/// \throws ArgumentError  on all ranks: what the first problem that is wrong throws by itself, with its number in front
template <class T>
[[nodiscard]] double check_costs_of_each(mpi::Context& context, matrix_view<const T> rows,
                                         std::span<const CheckedMarginals> problems);

}  // namespace plait::sinkhorn
