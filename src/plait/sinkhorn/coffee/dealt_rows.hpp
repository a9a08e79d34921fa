#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/context.hpp"

namespace plait::sinkhorn {

/// The rows of the first rank of each node, dealt to the other ranks of the node in nearly equal parts, so that the
/// first one, which exchanges the sums of columns with other nodes, has nothing else to do. Those ranks hold a copy of
/// what is theirs and of what they get; where a rank is alone on its node, it keeps its rows where they are.
///
/// Source: COFFEE, section V.C.
template <class T>
class DealtRows {
 public:
  /// Collective over `context`, which outlives this.
  /// \pre  rows is row-major; marginals has one for each of its rows
  DealtRows(mpi::Context& context, matrix_view<T> rows, std::span<const double> marginals);

  [[nodiscard]] matrix_view<T> rows() const noexcept { return dealt_; }
  [[nodiscard]] const std::vector<double>& marginals() const noexcept { return marginals_; }

  /// Puts the rows, as they are now, back to where they were.
  /// \param factors  of the rows as they are dealt
  /// \return         those of the rows that this rank gave. Collective.
  [[nodiscard]] std::vector<T> put_back(const std::vector<T>& factors);

 private:
  mpi::Context& context_;
  matrix_view<T> kept_;   // as they came
  matrix_view<T> dealt_;  // `kept_`, or what `copy_` holds
  Array<T> copy_;         // the rank's own rows, then those that it got
  std::vector<double> marginals_;
  std::vector<Index> given_;  // rows, to each rank
  std::vector<Index> taken_;  // rows, from each rank
};

}  // namespace plait::sinkhorn
