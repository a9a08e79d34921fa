#pragma once

#include "plait/simd/row_block.hpp"
#include "plait/simd/sweep/point_exponentials.hpp"

/// The kernels of `ScalingKernels` and `ExponentialKernels`, and exponentials of points, one element at a time.
namespace plait::simd {

template <class T, class A>
void row_sums_reference(RowBlock<const T> k, const A* v, A* sums, RowsAhead<T> ahead);
template <class T, class A>
void column_sums_reference(RowBlock<const T> k, const A* u, A* c, RowsAhead<T> ahead);
template <class T, class A>
void rescale_reference(RowBlock<T> k, const A* u, const A* v, A* c, RowsAhead<T> ahead);
template <class T, class A>
void multiply_columns_reference(RowBlock<T> k, const A* v);

template <class T, class A>
void exponential_sums_reference(RowBlock<const T> cost, A factor, const A* f, const A* g, RowBlock<A> e, A* sums);
template <class T, class A>
void row_maxima_reference(RowBlock<const T> cost, A factor, const A* g, A* maxima);

template <class A>
void point_exponentials_reference(const A* x, const A* a, Index coordinates, const A* y, const A* h, RowBlock<A> e,
                                  SumsBefore<A> before, A* sums);

}  // namespace plait::simd
