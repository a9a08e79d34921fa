#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/collective/node/reducer.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::sinkhorn {

/// Sums of vectors of one length over all ranks, as one message an iteration: through shared memory within
/// nodes, on a schedule that is made once between them. All ranks get the same bits.
template <class A>
class SumOverRanks {
 public:
  /// Collective over `context`, which outlives this.
  SumOverRanks(mpi::Context& context, Index length);

  /// vector ← the sum of all ranks'. Collective.
  /// \pre  vector.size() == length
  void operator()(std::span<A> vector);

 private:
  Index length_;
  // None for a single rank.
  std::optional<collective::NodeReducer> node_;
  std::optional<schedule::Schedule> network_;
};

/// A vector of sums for each of several problems, which all ranks add up by one message.
template <class A>
class BatchSums {
 public:
  /// \param over    ranks of the context over which sums are
  /// \param length  of each vector
  BatchSums(mpi::Context& context, mpi::Context& over, std::size_t length)
      : context_(context), over_(over), length_(length) {}

  /// Zeros for so many problems. Messages are made again when half of them would be nobody's. Collective.
  void clear(std::size_t problems) {
    if (room_ == 0 || 2 * problems <= room_) {
      room_ = problems;
      mpi::agreed(context_, [&] { sums_.resize(room_ * length_); });
      sum_over_ranks_.reset();
      sum_over_ranks_.emplace(over_, static_cast<Index>(sums_.size()));
    }
    std::ranges::fill(sums_, A{0});
  }

  [[nodiscard]] std::span<A> of(std::size_t slot) { return std::span(sums_).subspan(slot * length_, length_); }

  /// Collective.
  void add_up() { (*sum_over_ranks_)(sums_); }

 private:
  mpi::Context& context_;
  mpi::Context& over_;
  std::size_t length_;
  std::optional<SumOverRanks<A>> sum_over_ranks_;
  std::size_t room_ = 0;
  std::vector<A> sums_;
};

}  // namespace plait::sinkhorn
