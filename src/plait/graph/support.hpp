#pragma once

#include <cstdint>
#include <span>

#include "plait/base/index.hpp"

namespace plait::graph {

/// The share of a sum of marginals by which it may be off, as they were rounded.
inline constexpr double marginals_rounding = 1e-9;

/// Some rows, and the columns in which these have entries: all that the rows sum up to has to be there.
struct Bottleneck {
  Index rows = 0;
  Index columns = 0;
  double need = 0;  // the sum of the rows' marginals
  double room = 0;  // that of the columns'

  /// Whether the rows need all of the room, up to what rounding of the marginals changes.
  [[nodiscard]] bool is_full() const noexcept;
};

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

/// What that takes at its peak with the pattern itself: 28 bytes an entry, and vectors.
[[nodiscard]] Index bytes_of_support(Index rows, Index columns, Index entries) noexcept;

}  // namespace plait::graph
