#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/simd/exact/column_sums.hpp"
#include "plait/simd/exact/exact_sum.hpp"
#include "plait/simd/nearest/nearest_kernels.hpp"
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

/// Puts some rows, simd::nearest_points at most, into a panel of `simd::NearestKernels`.
template <class T, class Row>
void fill_panel(RowBlock<const T> x, std::span<const Row> rows, T* panel) {
  constexpr Index at_once = 4;  // whose numbers are stored together
  const auto count = static_cast<Index>(rows.size());
  for (Index p = 0; p < count; p += at_once) {
    std::array<const T*, at_once> from;
    for (Index q = 0; q < at_once; ++q)
      from[at(q)] = x.data + rows[at(std::min(p + q, count - 1))] * x.leading_dimension;
    const auto [first, second, third, fourth] = from;
    T* to = panel + p;
    for (Index c = 0; c < x.columns; ++c, to += simd::nearest_points) {
      to[0] = first[c];
      to[1] = second[c];
      to[2] = third[c];
      to[3] = fourth[c];
    }
  }
}

/// Adds a · b to a sum, without rounding but for what is below the range of doubles.
inline void add_product(simd::ExactSum& sum, double a, double b) {
  const double product = a * b;
  sum.add(product);
  sum.add(__builtin_fma(a, b, -product));
}

}  // namespace plait::kmeans
