#include "plait/purify/filling.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include <fmt/format.h>

#include "plait/purify/elementwise.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/spectrum.hpp"

namespace plait::purify {

Filling fill(const std::vector<double>& energies, double filled, Smearing smearing, double width) {
  Filling result;
  result.occupations = occupy(energies, filled, smearing, width);
  result.filled = filled;
  for (std::size_t k = 0; k < energies.size(); ++k) result.energy += result.occupations.of_states[k] * energies[k];
  const double mu = result.occupations.chemical_potential;
  result.chemical_potentials = {mu, mu};
  result.is_projector = smearing == Smearing::none;
  const auto empty = static_cast<std::size_t>(filled);
  if (!result.is_projector || empty == 0 || empty == energies.size()) return result;
  const double below = energies[empty - 1];
  const double above = energies[empty];
  result.frontier = {below, 0, above, 0};
  result.chemical_potentials = {below, above};
  constexpr double resolution = 1e-12;  // of the spectrum
  if (!(above - below > resolution * (energies.back() - energies.front()))) {
    throw NoGap(fmt::format("no gap for {} occupied states of {}: states {} and {} have the energies {:.12g} "
                            "and {:.12g}; a smearing occupies both in part",
                            empty, energies.size(), empty, empty + 1, below, above),
                result.chemical_potentials);
  }
  return result;
}

template <class T>
DensityErrors density_errors(mpi::Context& context, const std::vector<double>& energies, const Filling& filling,
                             const Matrix<T>& h, const Matrix<T>* s, const Matrix<T>& d) {
  DensityErrors errors;
  if (energies.empty()) return errors;
  const double width = std::max(energies.back() - energies.front(), std::abs(energies.back()));
  errors.norm = std::max(1.0, std::sqrt(inner_product(context, d, d)));
  errors.trace = (s == nullptr ? trace(context, d) : inner_product(context, d, *s)) - filling.filled;
  if (width > 0) {
    errors.commutator = commutator_error(context, h, d, s) / (width * errors.norm);
    errors.energy = std::abs(inner_product(context, d, h) - filling.energy) / width;
  }
  if (filling.is_projector) errors.idempotency = sampled_idempotency_error(context, d, s);
  return errors;
}

#define PLAIT_INSTANTIATE(T)                                                                                         \
  template DensityErrors density_errors(mpi::Context&, const std::vector<double>&, const Filling&, const Matrix<T>&, \
                                        const Matrix<T>*, const Matrix<T>&);
PLAIT_INSTANTIATE(double)
PLAIT_INSTANTIATE(std::complex<double>)
#undef PLAIT_INSTANTIATE

}  // namespace plait::purify
