#pragma once

#include "plait/base/index.hpp"
#include "plait/purify/products.hpp"

/// Hamiltonians in a basis that is not orthonormal: with its overlap S and Z = S^(-1/2), ZHZ is one in a basis that is,
/// and ZDZ takes a density matrix back.
namespace plait::purify {

/// How S^(-1/2) was found.
struct InverseRoot {
  Index iterations = 0;
  double error = 0;  ///< ‖I - ZSZ‖, Frobenius
};

/// z ← s^(-1/2) of a Hermitian positive definite s, whose contents are lost. Coupled Newton-Schulz iterations,
///   T = (3I - ZY)/2, Y ← YT, Z ← TZ,  from  Y = S/b, Z = I  with b above all eigenvalues,
/// until ‖I - ZY‖ does not decrease by order 2 any more, as it would without rounding: e' = (3e² + e³)/4 <= e². Three
/// products a step, about log2 of the condition number steps. Collective over the context of the products.
///
/// \throws ArgumentError  on all ranks: s is not positive definite, or is so badly conditioned that rounding hides it;
///                        names an upper bound of the lowest eigenvalue
/// Source: Niklasson, "Iterative refinement method for the approximate factorization of a matrix inverse", Phys. Rev. B
/// 70, 193102 (2004); Higham, "Functions of Matrices" (2008), section 6.7.
template <class T>
[[nodiscard]] InverseRoot inverse_root(Products<T>& products, Matrix<T>& s, Matrix<T>& z);

/// ‖I - zsz‖, Frobenius. Collective over the context of the products.
template <class T>
[[nodiscard]] double root_error(Products<T>& products, const Matrix<T>& s, const Matrix<T>& z);

/// a ← z·a·z. Collective over the context of the products.
template <class T>
void transform(Products<T>& products, const Matrix<T>& z, Matrix<T>& a);

}  // namespace plait::purify
