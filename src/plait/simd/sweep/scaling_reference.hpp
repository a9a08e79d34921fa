#pragma once

#include "plait/simd/row_block.hpp"

/// The kernels of `ScalingKernels` and `ExponentialKernels`, one element at a time.
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

}  // namespace plait::simd
