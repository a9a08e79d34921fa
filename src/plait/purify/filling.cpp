#include "plait/purify/filling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/purify/elementwise.hpp"
#include "plait/purify/purification.hpp"
#include "plait/purify/spectrum.hpp"

namespace plait::purify {

namespace {

struct Smeared {
  double occupation;
  double entropy;
};

Smeared fermi_dirac(double x) {
  const double small = std::exp(-std::abs(x));  // of the side that is nearly empty
  const double share = small / (1 + small);
  return {x > 0 ? share : 1 - share, std::log1p(small) + std::abs(x) * share};
}

Smeared gaussian(double x) { return {std::erfc(x) / 2, std::exp(-x * x) / (2 * std::sqrt(std::numbers::pi))}; }

Smeared methfessel_paxton(double x) {
  const Smeared first = gaussian(x);
  return {first.occupation - x * first.entropy, (0.5 - x * x) * first.entropy};
}

Smeared smeared(Smearing smearing, double x) {
  switch (smearing) {
    case Smearing::fermi_dirac: return fermi_dirac(x);
    case Smearing::gaussian: return gaussian(x);
    case Smearing::methfessel_paxton: return methfessel_paxton(x);
    case Smearing::none: break;
  }
  return {x < 0 ? 1.0 : 0.0, 0};
}

Occupations step(const std::vector<double>& energies, std::size_t filled) {
  Occupations result{std::vector<double>(energies.size()), 0, 0};
  std::fill_n(result.of_states.begin(), filled, 1.0);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double below = filled > 0 ? energies[filled - 1] : -infinity;
  const double above = filled < energies.size() ? energies[filled] : infinity;
  result.chemical_potential = std::isinf(below) ? above : std::isinf(above) ? below : below + (above - below) / 2;
  return result;
}

}  // namespace

std::string_view name(Smearing smearing) noexcept {
  constexpr std::array<std::string_view, 4> names{"none", "fermi-dirac", "gaussian", "methfessel-paxton"};
  return names[static_cast<std::size_t>(smearing)];
}

Occupations occupy(const std::vector<double>& energies, double filled, Smearing smearing, double width,
                   std::span<const double> weights) {
  const std::size_t states = energies.size();
  const auto weight_of = [&](std::size_t k) { return weights.empty() ? 1.0 : weights[k]; };
  if (smearing == Smearing::none || states == 0) return step(energies, static_cast<std::size_t>(filled));
  if (!(width > 0) || !std::isfinite(width)) {
    throw ArgumentError(fmt::format("width: is {}, expected a positive energy", width));
  }
  double total = 0;
  std::size_t at_cut = 0;  // the state that the last electrons reach
  for (std::size_t k = 0; k < states; ++k) {
    total += weight_of(k);
    if (total <= filled) at_cut = std::min(states - 1, k + 1);
  }
  const double rounding = 1e-14 * total;
  if (filled == 0) return step(energies, 0);
  if (std::abs(filled - total) <= rounding) return step(energies, states);
  // The distance from the state at the cut, not the chemical potential itself: it is told apart from 0 however narrow
  // the occupations fall.
  const double cut = energies[at_cut];
  const auto count = [&](double distance) {
    double sum = 0;
    double lost = 0;  // by rounding, as Kahan adds it
    for (std::size_t k = 0; k < states; ++k) {
      const double term = weight_of(k) * smeared(smearing, (energies[k] - cut - distance) / width).occupation - lost;
      const double next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    return sum;
  };
  const double reach = energies.back() - energies.front() + 800 * width;  // by which all are full or empty
  const auto lowest_with = [&](double wanted) {
    double low = -reach;
    double high = reach;
    for (int halvings = 0; halvings < 1200; ++halvings) {  // a distance may be tiny, and is then told as well
      const double middle = low < 0 && high > 0 ? 0 : low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      (count(middle) < wanted ? low : high) = middle;
    }
    return high;
  };
  const double low = lowest_with(filled - rounding);
  const double high = std::max(low, lowest_with(filled + rounding));
  double distance = low + (high - low) / 2;
  const auto error = [&](double at) { return std::abs(count(at) - filled); };
  if (error(low) < error(distance)) distance = low;
  if (!(error(distance) <= 1e-9 * total)) {
    throw ArgumentError(
        fmt::format("width: is {}, expected one by which a chemical potential near {} fills {} states; "
                    "the nearest fills {}",
                    width, cut + distance, filled, count(distance)));
  }
  Occupations result{std::vector<double>(states), cut + distance, 0};
  for (std::size_t k = 0; k < states; ++k) {
    const auto [occupation, entropy] = smeared(smearing, (energies[k] - cut - distance) / width);
    result.of_states[k] = occupation;
    result.entropy += weight_of(k) * entropy;
  }
  return result;
}

bool is_gap(double below, double above, Interval spectrum) noexcept {
  constexpr double resolution = 1e-12;  // of the spectrum
  constexpr double rounding = 1e-14;    // of its largest energy
  const double largest = std::max(std::abs(spectrum.low), std::abs(spectrum.high));
  return above - below > std::max(resolution * spectrum.width(), rounding * largest);
}

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
  if (!is_gap(below, above, {energies.front(), energies.back()})) {
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
