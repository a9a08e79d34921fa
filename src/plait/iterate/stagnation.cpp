#include "plait/iterate/stagnation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace plait::iterate {

namespace {

constexpr std::size_t patience = 20;

bool has_fallen(std::span<const double> errors) { return errors.back() <= 0.9 * errors[errors.size() - 1 - patience]; }

bool has_lost_monotony(std::span<const double> errors) {
  constexpr int few = 4;
  if (errors.size() <= patience || has_fallen(errors)) return false;
  int not_less = 0;
  for (std::size_t k = errors.size() - patience; k < errors.size(); ++k) {
    not_less += static_cast<int>(errors[k] >= errors[k - 1]);
  }
  return not_less > few;
}

bool has_no_smaller_one_since_half(std::span<const double> errors) {
  constexpr std::size_t least = 256;
  if (errors.size() < least) return false;
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  return *std::min_element(middle, errors.end()) > 0.9 * *std::min_element(errors.begin(), middle);
}

}  // namespace

bool is_at_roundoff(std::span<const double> errors, double roundoff) {
  constexpr double roundings = 64;
  return errors.size() > patience && errors.back() <= roundings * roundoff && !has_fallen(errors);
}

bool is_rounding(std::span<const double> errors, const Rounding& rounding, std::size_t fall_from) {
  if (errors.empty() || !std::isfinite(errors.back())) return false;
  const auto falling = errors.subspan(fall_from);
  if (is_at_roundoff(falling, rounding.roundoff)) return true;
  if (errors.back() > 4 * rounding.span * rounding.roundoff) return false;
  return rounding.errors == Errors::fall ? has_lost_monotony(falling) : has_no_smaller_one_since_half(errors);
}

bool is_slow(std::span<const double> errors) {
  const std::size_t n = errors.size();
  if (!is_to_be_asked(n)) return false;
  return errors.back() > 0.5 * errors[n / 2 - 1];
}

}  // namespace plait::iterate
