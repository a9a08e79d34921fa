#pragma once

#include <cmath>

#include "plait/sinkhorn/sweep/update.hpp"

namespace plait::sinkhorn {

/// What becomes of a factor, where `ratio` is its marginal by the sum that it makes.
template <class A>
[[nodiscard]] A relaxed_factor(const LogUpdate& update, A factor, A ratio) {
  const double logarithm = std::log(static_cast<double>(factor));
  return static_cast<A>(std::exp(logarithm + update.change(logarithm, std::log(static_cast<double>(ratio)))));
}

/// What the sum is to be that a factor makes; 0 for a factor that is none.
template <class A>
[[nodiscard]] double wanted_sum(const LogUpdate& update, double marginal, A factor) {
  return factor == 0 ? 0 : update.wanted(marginal, std::log(static_cast<double>(factor)));
}

}  // namespace plait::sinkhorn
