#pragma once

#include "plait/simd/nearest/nearest_kernels.hpp"

/// The kernels of `NearestKernels`, one point at a time.
namespace plait::simd {

template <class T>
void nearest_two_reference(const T* panel, RowBlock<const T> centres, T* least, T* place, T* second);
template <class T>
void nearest_reference(const T* panel, RowBlock<const T> centres, T* least, T* place);
template <class T>
void own_reference(RowBlock<const T> x, const Index* rows, Index count, RowBlock<const T> centres,
                   const std::int32_t* of, T* d);
template <class T>
void narrow_reference(RowBlock<const T> x, const std::int32_t* rows, Index count, const T* origin, T scale,
                      float* panel);
std::uint32_t nearest_bounds_reference(const float* panel, const NarrowCentres& centres, float* upper, float* lower,
                                       std::int32_t* place);
Index doubtful_reference(const MovedBounds& bounds, Index count, std::int32_t* doubtful);

}  // namespace plait::simd
