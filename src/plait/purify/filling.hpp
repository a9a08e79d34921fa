#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plait/purify/frontier.hpp"
#include "plait/purify/occupation.hpp"
#include "plait/purify/orthogonal.hpp"

/// Density matrices by eigenstates.
///
///     Eigenstates<double> states(context, h);
///     Filling filling = fill(states.values(), electrons / 2, Smearing::none, 0);
///     states.weigh(filling.occupations.of_states, d);
///     auto errors = density_errors(context, states.values(), filling, h, nullptr, d);
namespace plait::purify {

/// How occupations fall from 1 to 0, by x = (energy - chemical potential) / width.
enum class Smearing : unsigned char {
  none,               ///< a step
  fermi_dirac,        ///< 1 / (1 + exp(x)): the width is Boltzmann's constant times the temperature
  gaussian,           ///< erfc(x) / 2
  methfessel_paxton,  ///< the same and its first correction, -x exp(-x²) / (2√π): not always within [0, 1]
};

/// "none", "fermi-dirac", "gaussian", "methfessel-paxton".
[[nodiscard]] std::string_view name(Smearing smearing) noexcept;

struct Occupations {
  std::vector<double> of_states;  ///< of each state, 1 where it is full
  double chemical_potential = 0;
  /// In units of Boltzmann's constant, for one electron in a full state. The energy less width times entropy is what
  /// these occupations minimise.
  double entropy = 0;
};

/// Fills states of these energies, which increase, with `filled` states' worth of electrons, to 1e-12 of them. The
/// chemical potential is found by bisection; where occupations do not depend on it, as in a gap, it is the middle of
/// all that do. Without smearing the lowest states are filled, and it is the middle of the gap.
///
/// \param weights  how much each state counts for `filled` and the entropy, with smearing; none: 1 each
/// \pre  0 <= filled <= the number of states, and whole without smearing
/// \throws ArgumentError  the width is not positive with smearing; no chemical potential gives the number to rounding
/// Sources: Mermin, Phys. Rev. 137, A1441 (1965); Methfessel, Paxton, Phys. Rev. B 40, 3616 (1989).
[[nodiscard]] Occupations occupy(const std::vector<double>& energies, double filled, Smearing smearing, double width,
                                 std::span<const double> weights = {});

/// Eigenstates that electrons fill.
struct Filling {
  Occupations occupations;
  double filled = 0;             ///< states' worth of electrons
  double energy = 0;             ///< tr(D H) for one electron in a full state
  Interval chemical_potentials;  ///< any in there is right: the gap, or a point with smearing
  Frontier frontier;             ///< where there is a gap
  bool is_projector = true;      ///< no state is filled in part
};

/// Whether two energies differ by more than 1e-12 of the spectrum's width and 1e-14 of its largest energy: what is less
/// may be rounding.
[[nodiscard]] bool is_gap(double below, double above, Interval spectrum) noexcept;

/// See `occupy`.
/// \throws NoGap          without smearing: the highest occupied and the lowest empty state have no gap between them
/// \throws ArgumentError  see `occupy`
[[nodiscard]] Filling fill(const std::vector<double>& energies, double filled, Smearing smearing, double width);

/// The errors of the d that `weigh` made of these occupations of the states of h, with an overlap s or without.
/// Collective over the context.
template <class T>
[[nodiscard]] DensityErrors density_errors(mpi::Context& context, const std::vector<double>& energies,
                                           const Filling& filling, const Matrix<T>& h, const Matrix<T>* s,
                                           const Matrix<T>& d);

}  // namespace plait::purify
