#pragma once

#include <limits>

#include "plait/purify/occupation.hpp"
#include "plait/purify/products.hpp"

/// The states at the gap, as an iterate or the density matrix tells them. Collective over the context.
namespace plait::purify {

/// What is known of the highest occupied and of the lowest empty state; at first nothing, and where a spectrum has no
/// such state, its energy is infinite and its error 0.
struct Frontier {
  double highest_occupied = -std::numeric_limits<double>::infinity();  ///< not above the true one,
  double occupied_error = std::numeric_limits<double>::infinity();     ///< by at most that
  double lowest_empty = std::numeric_limits<double>::infinity();       ///< not below the true one,
  double empty_error = std::numeric_limits<double>::infinity();        ///< by at most that

  /// The gap lies in it.
  [[nodiscard]] Interval gap() const noexcept;
  /// Whether both are known to 1e-6 of the gap, or as well as energies in a spectrum of that width can be told apart.
  [[nodiscard]] bool is_resolved(double width) const noexcept;
  /// The same of energies that may be off by so much.
  [[nodiscard]] Frontier widened(double by) const noexcept;

  friend bool operator==(const Frontier&, const Frontier&) = default;
};

/// Takes over what is known better in `other`.
void improve(Frontier& frontier, const Frontier& other) noexcept;

/// From an iterate x = occupation(h), which falls `within` an interval that holds the states at the gap, and all of
/// whose eigenvalues are within x(1 - x) < 0.1 of where they go. The eigenvalues of  (2X - I)(X - X²)  at its two ends
/// belong to the highest occupied and to the lowest empty state. All others but their neighbours' are near 0, so that
/// Lanczos converges in few steps where in the spectrum of h it would need thousands; what the polynomials made of
/// energies leads back to these.
///
/// Source: Rubensson, Niklasson, "Interior eigenvalues from density matrix expansions", SIAM J. Sci. Comput. 36 (2014).
/// \param noise  of the eigenvalues of an iterate
template <class T>
[[nodiscard]] Frontier frontier_of_iterate(mpi::Context& context, const Matrix<T>& x, const Occupation& occupation,
                                           Interval within, double noise = 1e-15);

/// By Lanczos in the space of the occupied states, onto which d projects, and in that of the others, until the errors
/// are at most `tolerance`, or as far as `most_steps` lead: an isolated state is soon found, one at the edge of a dense
/// band in a wide spectrum is not.
template <class T>
[[nodiscard]] Frontier frontier_of_density(mpi::Context& context, const Matrix<T>& h, const Matrix<T>& d,
                                           double tolerance, Index most_steps = 150);

/// An interval that holds the highest occupied and the lowest empty state of h, as the density matrix d of a
/// Hamiltonian near to it tells: both are within ‖(1-d)hd‖ of where the highest state of the space onto which d
/// projects and the lowest one of the other space lie (Weyl), whichever of these is higher. That takes 200 to 400
/// products of matrix and vector, as much time as a few products of matrices, or less with many ranks and states.
///
/// \throws ArgumentError  on all ranks: d is no projector, or one onto more or fewer than `occupied` states
template <class T>
[[nodiscard]] Interval frontier_near_density(mpi::Context& context, const Matrix<T>& h, const Matrix<T>& d,
                                             Index occupied);

}  // namespace plait::purify
