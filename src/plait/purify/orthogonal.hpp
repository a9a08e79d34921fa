#pragma once

#include <string>

#include "plait/base/index.hpp"
#include "plait/purify/products.hpp"
#include "plait/purify/purification.hpp"

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

/// a ← z·a·z of Hermitian a and z, Hermitian to the last bit. Collective over the context of the products.
template <class T>
void transform(Products<T>& products, const Matrix<T>& z, Matrix<T>& a);

/// How far a D is from a density matrix.
struct DensityErrors {
  double trace = 0;        ///< tr(D S) - occupied states
  double idempotency = 0;  ///< ‖D S D - D‖, Frobenius
  double commutator = 0;   ///< ‖D H - H D‖ in an orthonormal basis, in widths of the spectrum
  double energy = 0;  ///< tr(D H) - the sum of the occupied eigenvalues, if these are known, in widths of the spectrum
  double norm = 1;    ///< of D where its basis is nearly dependent, so that its elements are large; Frobenius
  double most_commutator = 1e-7;  ///< that rounding explains

  /// What they are, if rounding does not explain them; "" if it does.
  [[nodiscard]] std::string complaint(Index n, bool has_overlap) const;
};

/// The errors of the d that a purification of h ended with, both in an orthonormal basis. Collective over the context.
template <class T>
[[nodiscard]] DensityErrors density_errors(mpi::Context& context, const State& state, const Matrix<T>& h,
                                           const Matrix<T>& d);

/// d ← z·d·z, back in the basis of s: trace, idempotency and norm of the errors become those there. Four products.
/// Collective over the context of the products.
template <class T>
void bring_back(Products<T>& products, const Matrix<T>& z, const Matrix<T>& s, Index occupied, Matrix<T>& d,
                DensityErrors& errors);

}  // namespace plait::purify
