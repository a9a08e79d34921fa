#pragma once

#include <memory>
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
#include "plait/sinkhorn/scaling/rows.hpp"
#include "plait/sinkhorn/scaling/scale.hpp"

namespace plait::sinkhorn {

/// How a matrix is scaled in place. The last three are COFFEE's Algorithms 1 to 3, for comparison, and for types that
/// are computed with as themselves.
///
/// Source: Sun et al., "COFFEE".
enum class InPlaceForm : unsigned char {
  fused,    ///< one read and one write: the next pass over the rows multiplies the columns
  typical,  ///< rows are summed up and multiplied, then each column is, down its elements
  by_rows,  ///< the columns, too, are summed up and multiplied row by row
  blocked,  ///< these two passes in blocks, by kernels of vectors of four rows
};

/// How Algorithm 3 cuts the matrix: mc × nc elements at a time.
struct Blocking {
  Index rows = 8;
  Index columns = 1000;
};

/// An iteration in which this rank's rows become those of the plan, of one problem. Columns may be given their sums a
/// few at a time, as these come from the other ranks. Local.
template <class A>
class InPlaceIteration {
 public:
  InPlaceIteration(std::span<const double> rows, std::span<const double> columns) : factors_(rows, columns) {}
  virtual ~InPlaceIteration() = default;

  /// Gives the rows their sums, and adds this rank's part of those of the columns.
  virtual void rows(std::span<A> sums) = 0;
  /// Gives all columns their sums.
  virtual void columns(std::span<const A> sums) = 0;

  /// In how many steps so many columns are given their sums; one at least.
  [[nodiscard]] virtual Index steps(Index columns) const = 0;
  /// One step of what `columns` does, for those from `first` on. Steps of the same columns are called in order, with
  /// the same sums; those of other columns may come in between.
  virtual void rescale(Index first, std::span<const A> sums, Index step) = 0;

  [[nodiscard]] Factors<A>& factors() noexcept { return factors_; }

 private:
  Factors<A> factors_;
};

/// \pre  the form is fused, or elements are computed with as they are; the marginals outlive what is returned
template <class T, class A>
[[nodiscard]] std::unique_ptr<InPlaceIteration<A>> in_place_iteration(InPlaceForm form, matrix_view<T> rows,
                                                                      std::span<const double> row_marginals,
                                                                      std::span<const double> column_marginals,
                                                                      Blocking blocking = {});

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

/// What goes on while the sums of columns come from the other ranks: columns whose sums have come are rescaled, or
/// nothing is. The fused form has nothing to do then, as the next iteration's pass rescales.
enum class Meanwhile : unsigned char { wait, rescale };

/// Who holds the rows of a node's first rank: that one, or the others of the node; see `DealtRows`.
enum class LeaderRows : unsigned char { kept, dealt };

/// How columns get their sums from all ranks. All but the first are for comparison, as is what they go with.
struct ColumnExchange {
  SumWay way = SumWay::chosen;
  Meanwhile meanwhile = Meanwhile::wait;
  LeaderRows leader_rows = LeaderRows::kept;
};

/// `scale`, but the matrix becomes the plan: K ← diag(u) K diag(v). What was rounded on the way stays so. How the sums
/// are exchanged changes nothing but the order of additions, nor does what goes on meanwhile.
///
/// \throws ArgumentError  also, on all ranks: a form that computes with elements as they are, on others than double and
///                        float; blocks of less than 1 x 1; a fused form that is to rescale meanwhile, or whose rows
///                        are to be dealt; rescaling while MPI's own allreduce is under way
///
/// Source: COFFEE, section V, for all that `exchange` tells.
template <class T, class A>
[[nodiscard]] Scaling<A> scale_in_place(mpi::Context& context, matrix_view<T> rows, const Marginals& marginals,
                                        InPlaceForm form = InPlaceForm::fused, const Limits& limits = {},
                                        Blocking blocking = {}, ColumnExchange exchange = {});

}  // namespace plait::sinkhorn
