#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"

namespace plait::sinkhorn {

template <class A>
class InPlaceIteration;

/// How the sums of columns come from all ranks to all. All but the first are for comparison.
enum class SumWay : unsigned char {
  chosen,     ///< through memory that the ranks of a node share; between nodes by the least cost
  mpi,        ///< the MPI library's MPI_Allreduce
  ring,       ///< a ring of all ranks, nodes or not
  two_level,  ///< down a tree to the first rank of each node, a ring of these, up the trees; chunk by chunk
  coffee,     ///< the same, but all ranks of a node have an equal part in summing up before the first one gathers it
};

/// "auto", "mpi", "ring", "two-level", "coffee".
[[nodiscard]] std::string_view name(SumWay way) noexcept;

/// Sums of vectors of one length over all ranks, by one of these ways; all ranks get the same bits, but for those of
/// MPI's own way. Where an iteration is given, its columns are rescaled as soon as their sums have come, chunk by
/// chunk, while other chunks are on their way; by any way but the chosen one the sums have the bits that they have
/// without.
///
/// Sources: for `two_level` SALaR as COFFEE, section V.B, describes it; for `coffee` sections V.A and V.B; for what
/// goes on meanwhile section V.C.
template <class A>
class ExchangedSums {
 public:
  /// Collective over `context`, which outlives this, as does the iteration.
  /// \param columns    of the iteration, whose sums the vectors begin with
  /// \param iteration  none: nothing is rescaled
  /// \pre  there is none beside MPI's own way, which returns everything at once
  ExchangedSums(mpi::Context& context, SumWay way, Index columns, Index riders,
                InPlaceIteration<A>* iteration = nullptr);

  /// vector ← the sum of all ranks'; then the iteration's columns have their sums. Collective.
  /// \pre  vector.size() == columns + riders
  void operator()(std::span<A> vector);

 private:
  mpi::Context* context_;
  Index columns_;
  InPlaceIteration<A>* iteration_;
  // None for a single rank, nor for MPI's own way.
  std::optional<SumOverRanks<A>> chosen_;
  std::optional<schedule::Schedule> schedule_;
};

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
  std::vector<Index> taken_;  // rows, from each rank
};

}  // namespace plait::sinkhorn
