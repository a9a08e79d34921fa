#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/graph/support.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/marginals/matrix_check.hpp"

namespace plait::sinkhorn {

/// Why a matrix can't have its marginals, or has them only in the limit.
struct Feasibility {
  bool is_infeasible = false;    // need > room
  bool is_tight = false;         // need == room, and other rows have entries in these columns, which have to vanish
  graph::Bottleneck bottleneck;  // of either
};

/// A problem that is asked about.
struct RowHeights {
  const CheckedMarginals* marginals = nullptr;  // those of this rank's rows, and of all columns
  std::span<const double> heights;              // the factors of this rank's rows, or their logarithms
};

/// Looks for rows that are proof of it, among those that the iterations raise above the others: {i : heights[i] >= t},
/// for all t. Where a matrix has no support, the factors of such rows grow without limit, so that they are found after
/// some iterations; what is found is a proof, but finding nothing is none. One pass over the matrix, which stays as it
/// is, for all problems, and as many messages as for one unless their rows take much memory. Collective over
/// `context`; the same on all ranks.
template <class T>
[[nodiscard]] std::vector<Feasibility> feasibility(mpi::Context& context, matrix_view<const T> rows, Support support,
                                                   std::span<const RowHeights> problems, const Columns& part = {});

/// "3 of the rows must sum up to ... "
[[nodiscard]] std::string describe(const graph::Bottleneck& bottleneck);

/// What distributed rows allow (`graph::support_of`), on all ranks. Rank 0 gathers where entries > 0 are, and decides.
/// Collective over `context`.
template <class T>
[[nodiscard]] graph::SupportFound support_of(mpi::Context& context, const layout::SparseRows<T>& rows,
                                             const CheckedMarginals& marginals);

/// Whether a sparse matrix can have its marginals, asked of runs that are slow. Where rank 0 has memory for it, that is
/// decided once and for all by `support_of`; else each time what the heights prove, which takes vectors only.
template <class T>
class SparseSupport {
 public:
  /// \param most_bytes  that rank 0 may take; the same on all ranks
  /// \pre  the rows outlive this
  SparseSupport(const layout::SparseRows<T>& rows, Index most_bytes) : rows_(rows), most_bytes_(most_bytes) {}

  /// The marginals are the same each time. Collective over `context`.
  [[nodiscard]] Feasibility feasibility(mpi::Context& context, const RowHeights& problem);

  /// Of a run that came to the limit of its iterations: which entries vanish, if that was decided and some do; that it
  /// was not decided, and what memory that takes; else nothing.
  [[nodiscard]] std::string at_limit() const;

 private:
  const layout::SparseRows<T>& rows_;
  Index most_bytes_;
  Index needed_bytes_ = 0;                    // once that is known
  std::optional<graph::SupportFound> found_;  // which factors do not change
};

}  // namespace plait::sinkhorn
