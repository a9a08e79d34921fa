#include "plait/simd/sweep/scaling_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plait::simd {

namespace {

template <class A>
A normal_or_zero(A number) {
  return number < std::numeric_limits<A>::min() ? A{0} : number;
}

}  // namespace

template <class T, class A>
void row_sums_reference(RowBlock<const T> k, const A* v, A* sums, RowsAhead<T> /*ahead*/) {
  for (Index i = 0; i < k.rows; ++i) {
    A sum{0};
    for (Index j = 0; j < k.columns; ++j) sum += widened<A>(k.data[i * k.leading_dimension + j]) * v[j];
    sums[i] = sum;
  }
}

template <class T, class A>
void column_sums_reference(RowBlock<const T> k, const A* u, A* c, RowsAhead<T> /*ahead*/) {
  for (Index i = 0; i < k.rows; ++i) {
    for (Index j = 0; j < k.columns; ++j) c[j] += u[i] * widened<A>(k.data[i * k.leading_dimension + j]);
  }
}

template <class T, class A>
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

template <class T, class A>
void multiply_columns_reference(RowBlock<T> k, const A* v) {
  for (Index i = 0; i < k.rows; ++i) {
    for (Index j = 0; j < k.columns; ++j) {
      T& element = k.data[i * k.leading_dimension + j];
      element = narrowed<T>(widened<A>(element) * v[j]);
    }
  }
}

template <class T, class A>
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

template <class T, class A>
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
void point_exponentials_reference(const A* x, const A* a, Index coordinates, const A* y, const A* h, RowBlock<A> e,
                                  SumsBefore<A> before, A* sums) {
  for (Index i = 0; i < e.rows; ++i) {
    sums[i] = 0;
    for (Index j = 0; j < e.columns; ++j) {
      A& element = e.data[i * e.leading_dimension + j];
      if (before.u != nullptr) before.c[j] += before.u[i] * element;
      const A* other = y + j / panel_points * panel_points * coordinates + j % panel_points;
      A exponent = a[i] + h[j];
      for (Index k = 0; k < coordinates; ++k) exponent += x[k * group_points + i] * other[k * panel_points];
      element = normal_or_zero(std::exp2(exponent));
      sums[i] += element;
    }
  }
}

#define PLAIT_INSTANTIATE(T, A)                                               \
  template decltype(row_sums_reference<T, A>) row_sums_reference<T, A>;       \
  template decltype(column_sums_reference<T, A>) column_sums_reference<T, A>; \
  template decltype(rescale_reference<T, A>) rescale_reference<T, A>;         \
  template decltype(multiply_columns_reference<T, A>) multiply_columns_reference<T, A>
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
PLAIT_INSTANTIATE(BFloat16, float);
#undef PLAIT_INSTANTIATE

#define PLAIT_INSTANTIATE(T, A)                                                         \
  template decltype(exponential_sums_reference<T, A>) exponential_sums_reference<T, A>; \
  template decltype(row_maxima_reference<T, A>) row_maxima_reference<T, A>
PLAIT_INSTANTIATE(double, double);
PLAIT_INSTANTIATE(float, float);
PLAIT_INSTANTIATE(float, double);
#undef PLAIT_INSTANTIATE

template PointExponentials<double> point_exponentials_reference<double>;
template PointExponentials<float> point_exponentials_reference<float>;

}  // namespace plait::simd
