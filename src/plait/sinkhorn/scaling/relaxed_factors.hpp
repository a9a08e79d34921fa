#pragma once

#include <cmath>
#include <span>

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

/// See `translation`.
///
/// \param of_rows     what all rows are to sum up to with these factors
/// \param of_columns  likewise
/// \return  whether the factors of columns stay in the range of numbers; where those of rows do not, their next sums
///          do not, either
template <class A>
[[nodiscard]] bool translate(const LogUpdate& rows, const LogUpdate& columns, double of_rows, double of_columns,
                             std::span<A> u, std::span<A> v) {
  const double shift = translation(rows, columns, of_rows, of_columns);
  if (shift == 0) return true;
  const auto multiply = [](std::span<A> factors, double by) {
    bool is_in_range = true;
    for (A& factor : factors) {
      if (factor == 0) continue;
      factor = static_cast<A>(static_cast<double>(factor) * by);
      is_in_range = is_in_range && factor > 0 && std::isfinite(factor);
    }
    return is_in_range;
  };
  multiply(u, std::exp(shift));
  return multiply(v, std::exp(-shift));
}

}  // namespace plait::sinkhorn
