#pragma once

#include <vector>

#include "plait/purify/frontier.hpp"
#include "plait/purify/occupation.hpp"
#include "plait/purify/orthogonal.hpp"
#include "plait/purify/smearing.hpp"

/// Density matrices by eigenstates.
///
///     Eigenstates<double> states(context, h);
///     Filling filling = fill(states.values(), electrons / 2, Smearing::none, 0);
///     states.weigh(filling.occupations.of_states, d);
///     auto errors = density_errors(context, states.values(), filling, h, nullptr, d);
namespace plait::purify {

/// Eigenstates that electrons fill.
struct Filling {
  Occupations occupations;
  double filled = 0;             ///< states' worth of electrons
  double energy = 0;             ///< tr(D H) for one electron in a full state
  Interval chemical_potentials;  ///< any in there is right: the gap, or a point with smearing
  Frontier frontier;             ///< where there is a gap
  bool is_projector = true;      ///< no state is filled in part
};

/// See `occupy`.
/// \throws NoGap          without smearing: the highest occupied and the lowest empty state have the same energy, but
///                        for 1e-12 of the spectrum
/// \throws ArgumentError  see `occupy`
[[nodiscard]] Filling fill(const std::vector<double>& energies, double filled, Smearing smearing, double width);

/// The errors of the d that `weigh` made of these occupations of the states of h, with an overlap s or without.
/// Collective over the context.
template <class T>
[[nodiscard]] DensityErrors density_errors(mpi::Context& context, const std::vector<double>& energies,
                                           const Filling& filling, const Matrix<T>& h, const Matrix<T>* s,
                                           const Matrix<T>& d);

}  // namespace plait::purify
