#pragma once

#include "plait/simd/row_block.hpp"

/// The kernels of `DistanceKernels`, one element at a time.
namespace plait::simd {

template <class A>
void squared_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d);
template <class A>
void euclidean_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d);
template <class A>
void cityblock_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d);
template <class A>
void chebyshev_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d);
template <class A>
void inner_products_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d);
template <class A>
void minkowski_distances_reference(RowBlock<const A> x, const A* y, Index panels, RowBlock<A> d, A p);
template <class A>
void raise_reference(A* d, Index count, A power);

}  // namespace plait::simd
