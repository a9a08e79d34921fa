#include "plait/purify/convergence.hpp"

#include <cmath>

#include "plait/purify/steps.hpp"

namespace plait::purify {

namespace {

constexpr double cubic_constant = 4;
constexpr double square_constant = 4.41;  // the largest (1 + x)²(2 - x²) for x in [0, 1], at x = (√17 - 1)/4

bool are_alternate(const Polynomial& a, const Polynomial& b) {
  return (a == squaring && b == mirrored_squaring) || (a == mirrored_squaring && b == squaring);
}

}  // namespace

bool is_settled(const Iterate& iterate, Index occupied) noexcept {
  // Every eigenvalue is within x(1 - x) < 0.1 of 0 or 1. Together they are at most 0.12 away, so the trace tells how
  // many go to 1.
  return std::abs(iterate.missing_trace) < 0.1 && iterate.idempotency_error < 0.1 &&
         std::abs(iterate.trace - static_cast<double>(occupied)) < 0.3;
}

bool is_converged(std::span<const Iterate> iterates) noexcept {
  if (iterates.empty()) return false;
  const Iterate& last = iterates.back();
  if (last.settled && last.idempotency_error == 0) return true;
  const std::size_t count = iterates.size();
  if (count < 2 || !iterates[count - 2].settled) return false;
  const Iterate& before = iterates[count - 2];
  if (before.step == mcweeny_step) {
    return last.idempotency_error > cubic_constant * before.idempotency_error * before.idempotency_error;
  }
  if (count < 3 || !iterates[count - 3].settled || !are_alternate(before.step, iterates[count - 3].step)) return false;
  const double earlier = iterates[count - 3].idempotency_error;
  return last.idempotency_error > square_constant * earlier * earlier;
}

bool is_next_to_last(std::span<const Iterate> iterates) noexcept {
  constexpr double near_rounding = 1e-8;  // squared, it is a rounding error
  return !iterates.empty() && iterates.back().settled && iterates.back().idempotency_error < near_rounding;
}

}  // namespace plait::purify
