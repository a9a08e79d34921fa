#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/krylov/conjugate_gradient.hpp"
#include "plait/krylov/dots.hpp"
#include "plait/mpi/context.hpp"

namespace plait::krylov {

/// An eigenvalue of a symmetric tridiagonal matrix, by its number from the lowest one on, to rounding.
/// \pre  number < diagonal.size() <= coupling.size() + 1
[[nodiscard]] double tridiagonal_eigenvalue(std::span<const double> diagonal, std::span<const double> coupling,
                                            std::size_t number);

/// What a Lanczos process finds of the spectrum of a symmetric operator.
struct Extremes {
  double low = 0;   ///< not below the lowest eigenvalue
  double high = 0;  ///< not above the highest one
  Index steps = 0;  ///< products with the operator; 0 where there was no vector to begin with
};

struct LanczosOptions {
  double tolerance = 0.01;  ///< ends where half as many steps again change neither one by more than this part of it
  Index most_steps = 10'000;
  Sums sums = Sums::fast;
};

/// The extreme eigenvalues of the operator's action on what a vector reaches:
///
///     w = A·v_i - β_i v_{i-1};  α_i = w·v_i;  w -= α_i v_i;  β_{i+1} = ‖w‖;  v_{i+1} = w / β_{i+1}
///
/// are those of the tridiagonal matrix of α and β. Two reductions a step; vectors are not made orthogonal again, as
/// extreme eigenvalues do not suffer from copies of themselves. Collective over the context.
///
/// \param project  leaves of a vector what belongs to the spectrum: what rounding brings of vectors that A takes to 0
///                 grows, else
///
/// Source: Paige, "Error analysis of the Lanczos algorithm for tridiagonalizing a symmetric matrix", 1976.
template <class T>
[[nodiscard]] Extremes lanczos(mpi::Context& context, const Operator<T>& a, std::span<const T> start,
                               const LanczosOptions& options = {},
                               const std::function<void(std::span<T>)>& project = {});

/// An eigenvalue, and how far A·x is from its multiple of x in Euclid's norm, where x is its vector of length 1.
struct Eigenvalue {
  double value = 0;
  double residual = 0;
  Index steps = 0;  ///< as above; 0: there was nothing to begin with
};

/// The lowest eigenvalue of the operator on the vectors that `project` leaves, and its eigenvector in place of the one
/// to begin with: the same process twice, of which the second one adds up the vectors of the first. It ends where the
/// residual is less than `tolerance` of the value. Collective over the context.
[[nodiscard]] Eigenvalue lowest_eigenvector(mpi::Context& context, const Operator<double>& a, std::span<double> x,
                                            const LanczosOptions& options,
                                            const std::function<void(std::span<double>)>& project);

/// The eigenvector of length 1 of an eigenvalue of a symmetric tridiagonal matrix, by inverse iteration.
/// \pre  there are couplings but for the last row
[[nodiscard]] std::vector<double> tridiagonal_eigenvector(std::span<const double> diagonal,
                                                          std::span<const double> coupling, double value);

}  // namespace plait::krylov
