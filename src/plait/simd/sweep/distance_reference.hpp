#pragma once

#include <algorithm>
#include <cmath>

#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/distance_kernels.hpp"

/// The kernels of `DistanceKernels`, one element at a time.
namespace plait::simd {

/// \param add  of a sum and a coordinate of both
template <class A, class Add, class Finish>
void distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d, Add add, Finish finish) {
  for (Index i = 0; i < x.rows; ++i) {
    const A* point = x.data + i * x.leading_dimension;
    for (Index j = 0; j < panels * panel_points; ++j) {
      const A* other = y + j / panel_points * panel_points * x.columns + j % panel_points;
      A sum{0};
      for (Index k = 0; k < x.columns; ++k) sum = add(sum, point[k], other[k * panel_points]);
      d.data[i * d.leading_dimension + j] = finish(sum);
    }
  }
}

template <class A>
void squared_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances_reference(
      x, y, panels, d, [](A sum, A a, A b) { return sum + (a - b) * (a - b); }, [](A sum) { return sum; });
}

template <class A>
void euclidean_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances_reference(
      x, y, panels, d, [](A sum, A a, A b) { return sum + (a - b) * (a - b); }, [](A sum) { return std::sqrt(sum); });
}

template <class A>
void cityblock_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances_reference(
      x, y, panels, d, [](A sum, A a, A b) { return sum + std::abs(a - b); }, [](A sum) { return sum; });
}

template <class A>
void chebyshev_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances_reference(
      x, y, panels, d, [](A most, A a, A b) { return std::max(most, std::abs(a - b)); }, [](A most) { return most; });
}

template <class A>
void inner_products_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d) {
  distances_reference(x, y, panels, d, [](A sum, A a, A b) { return sum + a * b; }, [](A sum) { return sum; });
}

template <class A>
void minkowski_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d, A p) {
  chebyshev_distances_reference(x, y, panels, d);
  for (Index i = 0; i < x.rows; ++i) {
    const A* point = x.data + i * x.leading_dimension;
    for (Index j = 0; j < panels * panel_points; ++j) {
      A& largest = d.data[i * d.leading_dimension + j];
      const A* other = y + j / panel_points * panel_points * x.columns + j % panel_points;
      A sum{0};
      for (Index k = 0; k < x.columns && largest > 0; ++k) {
        sum += std::pow(std::abs(point[k] - other[k * panel_points]) / largest, p);
      }
      largest *= std::pow(sum, 1 / p);
    }
  }
}

template <class A>
void raise_reference(A* d, Index count, A power) {
  for (Index i = 0; i < count; ++i) d[i] = std::pow(d[i], power);
}

}  // namespace plait::simd
