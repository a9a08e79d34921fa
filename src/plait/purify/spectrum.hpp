#pragma once

#include "plait/purify/occupation.hpp"
#include "plait/purify/products.hpp"

namespace plait::purify {

/// How an interval that holds all eigenvalues of the Hamiltonian is found.
enum class Bounds : unsigned char {
  gershgorin,  ///< by the sums of the rows: certain, and wide
  lanczos,     ///< narrower, so that fewer steps are needed; never wider than by rows
};

/// An interval that holds all eigenvalues of h. Collective over the context.
///
/// By Lanczos, the extreme Ritz values are widened by the norm of the last residual vector. Source: Zhou, Li,
/// "Bounding the spectrum of large Hermitian matrices", Linear Algebra Appl. 435 (2011).
///
/// \throws ArgumentError  on all ranks, where h is not 0, and so large or so small that squares of its elements leave
///                        the range of numbers
template <class T>
[[nodiscard]] Interval spectrum_of(mpi::Context& context, const Matrix<T>& h, Bounds bounds);

/// The highest occupied and the lowest empty state.
struct Frontier {
  double highest_occupied = 0;  ///< not above the true one, by at most its error
  double occupied_error = 0;
  double lowest_empty = 0;  ///< not below the true one, by at most its error
  double empty_error = 0;
  [[nodiscard]] double gap() const noexcept { return lowest_empty - highest_occupied; }
};

/// By Lanczos in the space of the occupied states, onto which d projects, and in that of the others, to about
/// `tolerance` or as far as some steps lead. Infinite, where there is no such state. Collective over the context.
template <class T>
[[nodiscard]] Frontier frontier_of(mpi::Context& context, const Matrix<T>& h, const Matrix<T>& d, double tolerance);

/// ‖(hd - dh)v‖ / ‖v‖ of a random vector v: 0 up to rounding, if d is a function of h. Collective over the context.
template <class T>
[[nodiscard]] double commutator_error(mpi::Context& context, const Matrix<T>& h, const Matrix<T>& d);

}  // namespace plait::purify
