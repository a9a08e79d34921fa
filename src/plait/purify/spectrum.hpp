#pragma once

#include <span>

#include "plait/base/function_ref.hpp"
#include "plait/base/index.hpp"
#include "plait/purify/occupation.hpp"
#include "plait/purify/products.hpp"

/// What products of matrix and vector tell of a matrix.
namespace plait::purify {

/// What a Lanczos process found of a Hermitian operator.
struct RitzValues {
  double low = 0;            ///< not below the lowest eigenvalue
  double high = 0;           ///< not above the highest one
  double low_residual = 0;   ///< an eigenvalue lies at most that far from `low`
  double high_residual = 0;  ///< likewise
  Index steps = 0;           ///< products with the operator
  double coupling = 0;  ///< of the last vector: by which the extreme eigenvalues may lie outside, at most, in practice
  bool empty = false;   ///< the operator has no vector to begin with
};

/// How far the highest eigenvalue may lie above `high` after so many steps, as a share of its distance from the lowest
/// one, but for one in a milliard of first vectors: whatever the spectrum is, eps of it with a chance of at most
/// 1.648 √n exp(-√eps (2 steps - 1)).
///
/// Source: Kuczyński, Woźniakowski, "Estimating the largest eigenvalue by the power and Lanczos algorithms with a
/// random start", SIAM J. Matrix Anal. Appl. 13 (1992), theorem 4.2.
[[nodiscard]] double lanczos_error(Index n, Index steps);

/// Lanczos with full reorthogonalisation on whole vectors of n elements; T is double or std::complex<double>. The first
/// vector is the operator's `project` of a random one, always the same; all vectors are projected again, so that
/// rounding does not lead out of the subspace.
///
/// Collective over the context, as `apply` and `project` are, which give the same bits on all ranks. It ends after
/// `most_steps`, or when `is_enough` (asked every five steps; never without it), or where the subspace ends.
///
/// \throws OutOfMemory  on all ranks
template <class T>
[[nodiscard]] RitzValues lanczos(mpi::Context& context, Index n, Index most_steps,
                                 FunctionRef<bool(const RitzValues&)> is_enough,
                                 FunctionRef<void(std::span<const T> x, std::span<T> y)> apply,
                                 FunctionRef<void(std::span<T> x)> project = {});

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
/// are wrong for almost all first vectors (`lanczos_error`), if that is less, and by 1e-8 of the largest energy, within
/// which Lanczos may find two levels as one. Source: Zhou, Li, "Bounding the spectrum of large Hermitian matrices",
/// Linear Algebra Appl. 435 (2011).
///
/// \throws ArgumentError  on all ranks: as `expect_squares`, and as `expect_finite`
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
