#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/point_exponentials.hpp"

/// The kernels of `ScalingKernels` and `ExponentialKernels`, and exponentials of points, one element at a time.
namespace plait::simd {

template <class A>
[[nodiscard]] A normal_or_zero(A number) {
  return number < std::numeric_limits<A>::min() ? A{0} : number;
}

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void row_sums_reference(RowBlock<const T> k, const A* v, A* sums, RowsAhead<T> /*ahead*/) {
  for (Index i = 0; i < k.rows; ++i) {
    A sum{0};
    for (Index j = 0; j < k.columns; ++j) sum += widened<A>(k.data[i * k.leading_dimension + j]) * v[j];
    sums[i] = sum;
  }
}

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void column_sums_reference(RowBlock<const T> k, const A* u, A* c, RowsAhead<T> /*ahead*/) {
  for (Index i = 0; i < k.rows; ++i) {
    for (Index j = 0; j < k.columns; ++j) c[j] += u[i] * widened<A>(k.data[i * k.leading_dimension + j]);
  }
}

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void rescale_reference(RowBlock<T> k, const A* u, const A* v, A* c, RowsAhead<T> /*ahead*/) {
  for (Index i = 0; i < k.rows; ++i) {
    for (Index j = 0; j < k.columns; ++j) {
      T& element = k.data[i * k.leading_dimension + j];
      const A scaled = widened<A>(element) * v[j] * u[i];
      element = narrowed<T>(scaled);
      c[j] += scaled;
    }
  }
}

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void multiply_columns_reference(RowBlock<T> k, const A* v) {
  for (Index i = 0; i < k.rows; ++i) {
    for (Index j = 0; j < k.columns; ++j) {
      T& element = k.data[i * k.leading_dimension + j];
      element = narrowed<T>(widened<A>(element) * v[j]);
    }
  }
}

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void exponential_sums_reference(RowBlock<const T> cost, A factor, const A* f, const A* g, RowBlock<A> e, A* sums) {
  for (Index i = 0; i < cost.rows; ++i) {
    A sum{0};
    for (Index j = 0; j < cost.columns; ++j) {
      const A power =
          normal_or_zero(std::exp(g[j] + factor * widened<A>(cost.data[i * cost.leading_dimension + j]) + f[i]));
      e.data[i * e.leading_dimension + j] = power;
      sum += power;
    }
    sums[i] = sum;
  }
}

template <class Pair, class T = typename Pair::Element, class A = typename Pair::Number>
void row_maxima_reference(RowBlock<const T> cost, A factor, const A* g, A* maxima) {
  for (Index i = 0; i < cost.rows; ++i) {
    A maximum = -std::numeric_limits<A>::infinity();
    for (Index j = 0; j < cost.columns; ++j) {
      maximum = std::max(maximum, g[j] + factor * widened<A>(cost.data[i * cost.leading_dimension + j]));
    }
    maxima[i] = maximum;
  }
}

template <class A>
void point_exponentials_reference(const PointTerms<A>& of, RowBlock<A> e, SumsBefore<A> before, A* sums) {
  for (Index i = 0; i < e.rows; ++i) {
    sums[i] = 0;
    for (Index j = 0; j < e.columns; ++j) {
      A& element = e.data[i * e.leading_dimension + j];
      if (before.u != nullptr) before.c[j] += before.u[i] * element;
      const A* other = of.y + j / panel_points * panel_points * of.coordinates + j % panel_points;
      A exponent = of.a[i] + of.h[j];
      for (Index k = 0; k < of.coordinates; ++k) exponent += of.x[k * group_points + i] * other[k * panel_points];
      element = normal_or_zero(std::exp2(exponent));
      sums[i] += element;
    }
  }
}

}  // namespace plait::simd
