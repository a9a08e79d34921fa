#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/sparse_rows.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/marginals/feasibility.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

namespace plait::sinkhorn {

/// Where the entries of a whole matrix are, row by row, and what rows and columns are to sum up to.
struct Pattern {
  std::span<const Index> starts;           // of each row, and the end
  std::span<const std::uint32_t> columns;  // of each entry
  std::span<const double> row_marginals;
  std::span<const double> column_marginals;
};

/// What a matrix allows.
enum class SupportKind : unsigned char {
  none,     ///< no matrix that is 0 wherever this one is has the marginals
  partial,  ///< there is one, but all of them are 0 where this one has an entry: these vanish while it is scaled
  total,    ///< there is one with the entries of this one, and it can be scaled to the marginals
};

/// Which it is, with proof: of `none` some rows that need more than their columns have room for, of `partial` some that
/// need all of it.
struct SupportFound {
  SupportKind kind = SupportKind::total;
  Bottleneck bottleneck;
  Index vanishing = 0;  // of `partial`: how many entries do,
  Index row = 0;        // and the first of them
  Index column = 0;
};

/// Decides it: a largest flow from rows to columns through the entries (Dinic's algorithm, which is Hopcroft and Karp's
/// for ones), then the strongly connected components of what it leaves (Tarjan's). An entry without flow between two
/// components carries none in any largest flow: for ones, it is in no perfect matching. Marginals that are all alike
/// or whole numbers are dealt with exactly, others to 1e-9 of their sum.
///
/// Sources: Sinkhorn, Knopp, 1967; Hopcroft, Karp, 1973; Tarjan, 1972; Dulmage, Mendelsohn, 1958.
[[nodiscard]] SupportFound support_of(const Pattern& pattern);

/// What rank 0 needs at its peak to decide it of distributed rows: 28 bytes an entry, and vectors.
[[nodiscard]] Index bytes_of_support(Index rows, Index columns, Index entries) noexcept;

/// The same of distributed rows, on all ranks. Rank 0 gathers where entries > 0 are, and decides. Collective over
/// `context`.
template <class T>
[[nodiscard]] SupportFound support_of(mpi::Context& context, const layout::SparseRows<T>& rows,
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
  Index needed_bytes_ = 0;             // once that is known
  std::optional<SupportFound> found_;  // which factors do not change
};

}  // namespace plait::sinkhorn
