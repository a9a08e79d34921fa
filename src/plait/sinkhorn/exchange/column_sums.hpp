#pragma once

#include <memory>
#include <span>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/exchange/column_exchange.hpp"

namespace plait::sinkhorn {

/// Sums of vectors of one length over all ranks, as one message an iteration: through shared memory within
/// nodes, on a schedule that is made once between them. All ranks get the same bits, but for those of MPI's own way.
template <class A>
class SumOverRanks {
 public:
  /// Collective over `context`, which outlives this.
  SumOverRanks(mpi::Context& context, Index length, SumWay way = SumWay::chosen);
  SumOverRanks(SumOverRanks&&) noexcept;
  SumOverRanks& operator=(SumOverRanks&&) = delete;
  ~SumOverRanks();

  /// vector ← the sum of all ranks'. Collective.
  /// \pre  vector.size() == length
  void operator()(std::span<A> vector);

 private:
  struct Way;
  std::unique_ptr<Way> way_;  // none for a single rank
};

}  // namespace plait::sinkhorn
