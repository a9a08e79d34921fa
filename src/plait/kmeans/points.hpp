#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/exact/column_sums.hpp"
#include "plait/simd/exact/exact_sum.hpp"
#include "plait/simd/row_block.hpp"

namespace plait::kmeans {

using simd::RowBlock;

/// Points of a space, the rows of a matrix of which each rank has some; those of rank 0 come first.
///
/// What is summed up of them is summed exactly, so that it does not depend on who has which.
template <class T>
class Points {
 public:
  /// \param own  of this rank; they outlive this
  /// \throws ArgumentError  on all ranks: no points or no coordinates at all, other numbers of coordinates, coordinates
  ///                        that are not finite or whose squares leave the range of T, with the first row and column;
  ///                        none whose square is in it, but 0
  Points(mpi::Context& context, RowBlock<const T> own);

  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] RowBlock<const T> own() const noexcept { return own_; }
  [[nodiscard]] Index first() const noexcept { return first_; }  ///< this rank's first, in all
  [[nodiscard]] Index count() const noexcept { return count_; }  ///< on all ranks
  [[nodiscard]] Index dimension() const noexcept { return own_.columns; }
  [[nodiscard]] const simd::ColumnWindow& window() const noexcept { return *window_; }
  /// Σ |x|² over all, rounded once but for squares of doubles; as an exact sum.
  [[nodiscard]] const simd::ExactSum& squares() const noexcept { return squares_; }
  /// √ of the mean square of distances to the mean of all.
  [[nodiscard]] double spread() const noexcept { return spread_; }
  /// A power of two that brings the largest coordinate near 1.
  [[nodiscard]] double scale() const noexcept { return scale_; }

  /// Coordinates of these points, of any ranks, one after the other. Collective, with the same on all ranks.
  /// \throws OutOfMemory  on all ranks, where one has too little
  [[nodiscard]] std::vector<T> rows(std::span<const Index> numbers) const;

 private:
  void look_at_coordinates();
  void sum_up();

  mpi::Context& context_;
  RowBlock<const T> own_;
  Index first_ = 0;
  Index count_ = 0;
  std::optional<simd::ColumnWindow> window_;
  simd::ExactSum squares_;
  double spread_ = 0;
  double scale_ = 1;
};

/// Adds a · b to a sum, without rounding but for what is below the range of doubles.
inline void add_product(simd::ExactSum& sum, double a, double b) {
  const double product = a * b;
  sum.add(product);
  sum.add(__builtin_fma(a, b, -product));
}

}  // namespace plait::kmeans
