#include "bench/harness/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "plait/base/contract.hpp"

namespace plait::bench {

namespace {

std::vector<double> sorted(std::span<const double> samples) {
  PLAIT_ASSERT(!samples.empty(), "statistics need a sample");
  std::vector<double> values(samples.begin(), samples.end());
  std::ranges::sort(values);
  return values;
}

// P(Binomial(n, ½) = k), by logarithms: 2^-n alone may be too small for a double.
double binomial_half(std::size_t n, std::size_t k) {
  const auto log_factorial = [](std::size_t m) { return std::lgamma(static_cast<double>(m) + 1); };
  return std::exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) - static_cast<double>(n) * std::log(2.0));
}

}  // namespace

double median(std::span<const double> samples) {
  const std::vector<double> values = sorted(samples);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Interval median_interval(std::span<const double> samples) {
  const std::vector<double> values = sorted(samples);
  const std::size_t n = values.size();
  std::size_t outside = 0;  // samples beyond each end of the interval
  double below = binomial_half(n, 0);
  while (2 * (outside + 1) < n) {
    below += binomial_half(n, outside + 1);
    if (1 - 2 * below < 0.95) break;
    ++outside;
  }
  return {values[outside], values[n - 1 - outside]};
}

std::vector<double> ratios(std::span<const double> numerators, std::span<const double> denominators) {
  PLAIT_ASSERT(numerators.size() == denominators.size(), "samples come in pairs");
  std::vector<double> result(numerators.size());
  std::ranges::transform(numerators, denominators, result.begin(), std::divides<>());
  return result;
}

}  // namespace plait::bench
