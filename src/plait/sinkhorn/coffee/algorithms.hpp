#pragma once

#include <memory>
#include <span>
#include <utility>

#include "plait/base/index.hpp"
#include "plait/sinkhorn/scaling/iteration.hpp"

/// COFFEE's Algorithms 1 to 3, for comparison.
///
/// Source: Sun et al., "COFFEE".
namespace plait::sinkhorn {

/// An iteration that can give columns their sums a few at a time, as these come from the other ranks.
template <class A>
class PartwiseIteration : public InPlaceIteration<A> {
 public:
  using InPlaceIteration<A>::InPlaceIteration;

  /// Does nothing where that was done already, part by part.
  void rescale(std::span<const A> sums) final {
    if (!std::exchange(has_rescaled_, false)) all_columns(sums);
  }

  /// In how many steps so many columns are given their sums; one at least.
  [[nodiscard]] virtual Index steps(Index columns) const = 0;

  /// One step of what `rescale` does, for the columns from `first` on. Steps of the same columns are called in order,
  /// with the same sums; those of other columns may come in between.
  virtual void rescale(Index first, std::span<const A> sums, Index step) = 0;

  /// After the last step of all columns.
  void note_rescaled() noexcept { has_rescaled_ = true; }
  [[nodiscard]] bool has_rescaled() const noexcept { return has_rescaled_; }

 private:
  virtual void all_columns(std::span<const A> sums) = 0;

  bool has_rescaled_ = false;
};

/// How Algorithm 3 cuts the matrix: mc × nc elements at a time.
struct Blocking {
  Index rows = 8;
  Index columns = 1000;
};

/// COFFEE's Algorithm 1: rows are summed up and multiplied, then each column is, down its elements.
template <class A>
[[nodiscard]] std::unique_ptr<PartwiseIteration<A>> typical_iteration(const IterationTask<A>& task);

/// COFFEE's Algorithm 2: the columns, too, are summed up and multiplied row by row.
template <class A>
[[nodiscard]] std::unique_ptr<PartwiseIteration<A>> by_rows_iteration(const IterationTask<A>& task);

/// COFFEE's Algorithm 3: these two passes in blocks, by kernels of vectors of four rows.
template <class A>
[[nodiscard]] std::unique_ptr<PartwiseIteration<A>> blocked_iteration(const IterationTask<A>& task, Blocking blocking);

}  // namespace plait::sinkhorn
