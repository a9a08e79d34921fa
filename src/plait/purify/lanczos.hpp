#pragma once

#include <span>
#include <vector>

#include "plait/base/function_ref.hpp"
#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"

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

}  // namespace plait::purify
