#pragma once

#include <optional>
#include <span>
#include <string>

#include "plait/base/index.hpp"
#include "plait/graph/support.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::sinkhorn {

/// What distributed rows allow (`graph::support_of`), on all ranks. Rank 0 gathers where entries > 0 are, and decides.
/// Collective over `context`.
template <class T>
[[nodiscard]] graph::SupportFound support_of(mpi::Context& context, const layout::SparseRows<T>& rows,
                                             const CheckedMarginals& marginals);

/// Whether a sparse matrix can have its marginals, asked of runs that are slow. Where rank 0 has memory for it, that is
/// decided once and for all by `support_of`; else each time what the heights prove, which takes vectors only: see
/// `feasibility`.
template <class T>
class SparseSupport {
 public:
  /// \param most_bytes  that rank 0 may take; the same on all ranks
  /// \pre  the rows outlive this
  SparseSupport(const layout::SparseRows<T>& rows, Index most_bytes) : rows_(rows), most_bytes_(most_bytes) {}

  /// The marginals are the same each time. Collective over `context`.
  [[nodiscard]] Feasibility feasibility(mpi::Context& context, const CheckedMarginals& marginals,
                                        std::span<const double> heights);

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
