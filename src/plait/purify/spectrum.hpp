#pragma once

#include "plait/purify/occupation.hpp"
#include "plait/purify/products.hpp"

namespace plait::purify {

/// How an interval that holds all eigenvalues of the Hamiltonian is found.
enum class Bounds : unsigned char {
  gershgorin,  ///< by the sums of the rows: certain, and wide
  lanczos,     ///< narrower, so that fewer steps are needed; never wider than by rows
};

/// \throws ArgumentError  the largest energy is not 0, and so large or so small that sums of squares leave the range of
///                        numbers
void expect_squares(double largest);

/// An interval that holds all eigenvalues of h. Collective over the context.
///
/// By Lanczos, the extreme Ritz values are widened by the norm of the last residual vector, or by the most that they
/// are wrong for almost all first vectors (`lanczos_error`), if that is less. Source: Zhou, Li, "Bounding the spectrum
/// of large Hermitian matrices", Linear Algebra Appl. 435 (2011).
///
/// \throws ArgumentError  on all ranks: as `expect_squares`
template <class T>
[[nodiscard]] Interval spectrum_of(mpi::Context& context, const Matrix<T>& h, Bounds bounds);

/// ‖(hds - sdh)v‖ / ‖v‖ of a random vector v: 0 up to rounding, if d is a function of h in a basis of overlap s, which
/// is 1 where there is none. Collective over the context.
template <class T>
[[nodiscard]] double commutator_error(mpi::Context& context, const Matrix<T>& h, const Matrix<T>& d,
                                      const Matrix<T>* s = nullptr);

/// About ‖dsd - d‖, Frobenius, by vectors of random signs, which give its square on average. Collective over the
/// context.
template <class T>
[[nodiscard]] double sampled_idempotency_error(mpi::Context& context, const Matrix<T>& d, const Matrix<T>* s = nullptr);

}  // namespace plait::purify
