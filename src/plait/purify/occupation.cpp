#include "plait/purify/occupation.hpp"

#include <algorithm>
#include <cmath>

namespace plait::purify {

double value(const Polynomial& polynomial, double x) noexcept {
  double result = 0;
  for (std::size_t k = polynomial.size(); k-- > 0;) result = result * x + polynomial[k];
  return result;
}

double Occupation::of(double energy) const noexcept {
  double x = shift + slope * energy;
  for (const Iterate& iterate : iterates) x = value(iterate.step, x);
  return x;
}

double Occupation::energy_of(double occupation, Interval spectrum) const noexcept {
  constexpr int halvings = 100;  // until neighbours remain, of any two doubles of one sign and similar size
  for (int i = 0; i < halvings; ++i) {
    const double middle = spectrum.low + spectrum.width() / 2;
    if (middle <= spectrum.low || middle >= spectrum.high) break;
    (of(middle) > occupation ? spectrum.low : spectrum.high) = middle;
  }
  return spectrum.low + spectrum.width() / 2;
}

Interval unsettled_energies(const Occupation& occupation, double idempotency_error, double missing_trace,
                            Interval spectrum, Interval falling) noexcept {
  if (missing_trace <= 0) return {spectrum.high, spectrum.low};
  // Near 1/2, x(1 - x) is so flat that rounding hides x: an interval without width would tell nothing of the energy.
  constexpr double flat = 0.2;
  const double least = std::min(flat, idempotency_error * idempotency_error / missing_trace);
  const double low = (1 - std::sqrt(1 - 4 * least)) / 2;
  return {occupation.of(falling.low) < 1 - low ? spectrum.low : occupation.energy_of(1 - low, falling),
          occupation.of(falling.high) > low ? spectrum.high : occupation.energy_of(low, falling)};
}

Interval energies_of_no_state(const Occupation& occupation, double idempotency_error, Interval spectrum) noexcept {
  if (!(idempotency_error < 0.25)) return {spectrum.high, spectrum.low};
  const double low = (1 - std::sqrt(1 - 4 * idempotency_error)) / 2;
  return {occupation.energy_of(1 - low, spectrum), occupation.energy_of(low, spectrum)};
}

}  // namespace plait::purify
