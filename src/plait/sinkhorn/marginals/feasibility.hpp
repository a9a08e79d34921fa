#pragma once

#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/graph/support.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::sinkhorn {

/// Why a matrix can't have its marginals, or has them only in the limit.
struct Feasibility {
  bool is_infeasible = false;    // need > room
  bool is_tight = false;         // need == room, and other rows have entries in these columns, which have to vanish
  graph::Bottleneck bottleneck;  // of either
};

/// Which part of the matrix a rank's rows are: whole rows, or a block of a process grid whose rows other ranks have,
/// too.
struct Columns {
  Index first = 0;           // the number in the matrix of the block's first column
  bool begins_a_row = true;  // false: another rank names these rows
};

/// What makes an entry one that a plan may have: of a matrix that is scaled, or of costs.
enum class Support : unsigned char { positive, finite };

/// Looks for rows that are proof of it, among those that the iterations raise above the others: {i : heights[i] >= t},
/// for all t. Where a matrix has no support, the factors of such rows grow without limit, so that they are found after
/// some iterations; what is found is a proof, but finding nothing is none. One pass over the matrix, which stays as it
/// is. Collective over `context`; the same on all ranks.
///
/// \param marginals  those of this rank's rows, and of all columns
/// \param heights    the factors of this rank's rows, or their logarithms
template <class T>
[[nodiscard]] Feasibility feasibility(mpi::Context& context, matrix_view<const T> rows, Support support,
                                      const CheckedMarginals& marginals, std::span<const double> heights,
                                      Columns part = {});

/// One of several problems that are looked at together.
struct RowHeights {
  const CheckedMarginals* marginals = nullptr;
  std::span<const double> heights;  // of this rank's rows
};

/// The same for several problems with one matrix, which is passed through once, by as many messages as for one unless
/// their rows take much memory. Collective over `context`.
template <class T>
[[nodiscard]] std::vector<Feasibility> feasibility_of_each(mpi::Context& context, matrix_view<const T> rows,
                                                           Support support, std::span<const RowHeights> problems);

/// The same of sparse rows, whose entries > 0 count. Collective over `context`.
template <class T>
[[nodiscard]] Feasibility feasibility(mpi::Context& context, const layout::SparseRows<T>& rows,
                                      const CheckedMarginals& marginals, std::span<const double> heights);

/// "3 of the rows are to sum up to ... "
[[nodiscard]] std::string describe(const graph::Bottleneck& bottleneck, const AxisNames& names);

}  // namespace plait::sinkhorn
