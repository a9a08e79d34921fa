#pragma once

#include <array>
#include <span>

#include "plait/base/index.hpp"

namespace plait::purify {

/// Closed interval of energies.
struct Interval {
  double low = 0;
  double high = 0;
  [[nodiscard]] double width() const noexcept { return high - low; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// c[0] + c[1] x + ... + c[4] x⁴, what one step makes of each eigenvalue x.
using Polynomial = std::array<double, 5>;

[[nodiscard]] double value(const Polynomial& polynomial, double x) noexcept;

/// One iterate X, and the step that was made from it.
struct Iterate {
  double trace = 0;
  double idempotency_error = 0;  ///< ‖X - X²‖, Frobenius
  double missing_trace = 0;      ///< tr(X - X²): how far its eigenvalues are from 0 and 1, all together
  double energy = 0;             ///< tr(XH)
  bool settled = false;          ///< it is certain that every state goes to where it belongs
  Polynomial step{};             ///< of the last iterate: none, all 0
  double seconds = 0;            ///< that it took to get from here to the next, on the slowest rank
  Interval frontier{};           ///< of energies: where the states at the gap are, as is known by then
  friend bool operator==(const Iterate&, const Iterate&) = default;
};

/// What became of the energies so far: energy e has the occupation  p_k(… p_2(p_1(shift + slope·e))),  which the
/// iterate has as an eigenvalue for each eigenvalue e of the Hamiltonian.
struct Occupation {
  double shift = 0;
  double slope = 0;                     // negative: low states are occupied
  std::span<const Iterate> iterates{};  // whose steps p are made, held by whoever has this

  [[nodiscard]] double of(double energy) const noexcept;

  /// The energy whose occupation is `occupation`, in an interval at whose low end occupations are higher and at whose
  /// high end they are lower; the end of it, if there is none in it.
  [[nodiscard]] double energy_of(double occupation, Interval spectrum) const noexcept;
};

/// Where the states are that are neither occupied nor empty, as an iterate X of n states tells by ‖X - X²‖ (Frobenius)
/// and tr(X - X²): at least one state lies in the interval, if the latter is not empty. Occupations fall in the part
/// `falling` of the spectrum, and are nowhere else further from 0 and 1 than at its ends.
///
/// Source: Rubensson, Niklasson, "Interior eigenvalues from density matrix expansions", SIAM J. Sci. Comput. 36 (2014):
/// the largest x(1 - x) is at least ‖X - X²‖² / tr(X - X²).
[[nodiscard]] Interval unsettled_energies(const Occupation& occupation, double idempotency_error, double missing_trace,
                                          Interval spectrum, Interval falling) noexcept;

/// An interval without states, in which the chemical potential may lie anywhere; empty (low > high) while
/// ‖X - X²‖ >= 1/4. No x(1 - x) exceeds that norm.
[[nodiscard]] Interval energies_of_no_state(const Occupation& occupation, double idempotency_error,
                                            Interval spectrum) noexcept;

}  // namespace plait::purify
