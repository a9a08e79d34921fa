#pragma once

#include <limits>
#include <optional>
#include <span>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/schedule.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/exchange/column_exchange.hpp"
#include "plait/sinkhorn/exchange/column_sums.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"

namespace plait::sinkhorn {

/// Sums of vectors over all ranks, by which the columns of an iteration are rescaled as soon as they have come, chunk
/// by chunk, while other chunks are on their way. By any way but the chosen one the sums have the bits that
/// `SumOverRanks` gives them.
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
  SumOverRanks<A> afterwards_;
  SumAndRescale<A> meanwhile_;
};

}  // namespace plait::sinkhorn
