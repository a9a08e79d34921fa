#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/sinkhorn/coffee/algorithms.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"

namespace plait::sinkhorn {

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

/// Sums of vectors of this length over all ranks, by one of these ways. All ranks get the same bits, but for those of
/// MPI's own way. Collective over `context`, which outlives what is returned, whose copies are one.
///
/// Sources: for `two_level` SALaR as COFFEE, section V.B, describes it; for `coffee` sections V.A and V.B.
template <class A>
[[nodiscard]] SumUp<A> sum_up(mpi::Context& context, Index length, SumWay way);

/// Sums of vectors over all ranks, by which the columns of an iteration are rescaled as soon as they have come, chunk
/// by chunk, while other chunks are on their way. By any way but the chosen one the sums have the bits that
/// `sum_up` gives them.
///
/// Source: COFFEE, section V.C.
template <class A>
class SumAndRescale {
 public:
  /// Collective over `context`, which outlives this, as does the iteration.
  /// \param columns  of the iteration, whose sums the vectors begin with
  /// \param riders   what comes along behind them
  /// \throws ArgumentError  MPI's own way, which returns everything at once
  SumAndRescale(mpi::Context& context, SumWay way, PartwiseIteration<A>& iteration, Index columns, Index riders);

  /// vector ← the sum of all ranks'; then the iteration's columns have their sums. Collective.
  /// \pre  vector.size() == columns + riders
  void operator()(std::span<A> vector);

 private:
  PartwiseIteration<A>* iteration_;
  Index columns_;
  std::optional<schedule::Schedule> schedule_;  // none for a single rank
};

/// The same for a run that ends at some time, with rows and not columns having just their sums: an iteration that may
/// be the last one, as its number or the error before it tells, rescales nothing meanwhile. Should one of the others
/// have been the last, columns have been given their sums already: `iteration.has_rescaled()`.
template <class A>
class OverlappedSums {
 public:
  /// \param total  of the marginals: what errors are relative to
  OverlappedSums(mpi::Context& context, SumWay way, PartwiseIteration<A>& iteration, Index columns, Index riders,
                 double total, const Limits& limits);

  void operator()(std::span<A> vector);

 private:
  PartwiseIteration<A>* iteration_;
  std::size_t columns_;
  double wanted_;
  Index left_;
  double error_ = std::numeric_limits<double>::quiet_NaN();  // after the iteration before
  SumUp<A> afterwards_;
  SumAndRescale<A> meanwhile_;
};
}  // namespace plait::sinkhorn
