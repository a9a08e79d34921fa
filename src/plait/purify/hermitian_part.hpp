#pragma once

#include "plait/purify/products.hpp"

/// What makes a matrix that is Hermitian to rounding so to the last bit. T is float, double, or std::complex of one.
namespace plait::purify {

/// adjoint ← Aᴴ, in memory and a layout as A's. Collective over the context.
template <class T>
void take_adjoint(mpi::Context& context, const Matrix<T>& a, Matrix<T>& adjoint);

/// A ← (A + Aᴴ)/2, Hermitian to the last bit, from what `take_adjoint` made of it. Local.
template <class T>
void take_hermitian_part(Matrix<T>& a, const Matrix<T>& adjoint);

}  // namespace plait::purify
