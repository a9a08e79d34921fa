#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/context.hpp"

namespace plait::sinkhorn {

/// Sums of vectors of one length over all ranks, as one message an iteration: through shared memory within
/// nodes, on a schedule that is made once between them. All ranks get the same bits.
template <class A>
class SumOverRanks {
 public:
  /// Collective over `context`, which outlives this.
  SumOverRanks(mpi::Context& context, Index length);
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

/// vector ← the sum of all ranks'.
template <class A>
using SumUp = std::function<void(std::span<A> vector)>;

/// A vector of sums for each of several problems, which all ranks add up by one message.
template <class A>
class BatchSums {
 public:
  /// \param length  of each vector
  /// \param sum_up  how one of them is summed up; empty: as `SumOverRanks` does
  BatchSums(mpi::Context& context, std::size_t length, SumUp<A> sum_up = {})
      : context_(context), length_(length), sum_up_(std::move(sum_up)) {}

  /// Zeros for so many problems. Messages are made again when half of them would be nobody's. Collective.
  void clear(std::size_t problems) {
    if (room_ == 0 || 2 * problems <= room_) {
      room_ = problems;
      mpi::agreed(context_, [&] { sums_.resize(room_ * length_); });
      own_.reset();
      if (!sum_up_) own_.emplace(context_, static_cast<Index>(sums_.size()));
    }
    std::ranges::fill(sums_, A{0});
  }

  [[nodiscard]] std::span<A> of(std::size_t slot) { return std::span(sums_).subspan(slot * length_, length_); }

  /// Collective.
  void add_up() {
    if (sum_up_) {
      sum_up_(sums_);
    } else {
      (*own_)(sums_);
    }
  }

 private:
  mpi::Context& context_;
  std::size_t length_;
  SumUp<A> sum_up_;
  std::optional<SumOverRanks<A>> own_;
  std::size_t room_ = 0;
  std::vector<A> sums_;
};

}  // namespace plait::sinkhorn
