#include "plait/purify/method.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"

namespace plait::purify {

namespace {

constexpr std::array methods{Method::canonical, Method::mcweeny, Method::tc2, Method::trs4, Method::hpcp};

constexpr double number(Index count) { return static_cast<double>(count); }

/// tr(X² - X³) / tr(X - X²), by which the steps that keep the trace are made.
double cubic_balance(const Traces& traces) {
  const double denominator = traces.first - traces.second;
  // Without anything to purify every step is the same.
  return denominator > 0 ? std::clamp((traces.second - traces.third) / denominator, 0.0, 1.0) : 0.5;
}

Polynomial canonical_step(const Traces& traces) {
  const double c = cubic_balance(traces);
  if (c >= 0.5) return {0, 0, (1 + c) / c, -1 / c, 0};
  return {0, (1 - 2 * c) / (1 - c), (1 + c) / (1 - c), -1 / (1 - c), 0};
}

/// Towards the trace that is wanted: X² or 2X - X², or as much of it as brings about just this trace.
Polynomial step_to_trace(const Traces& traces, double wanted) {
  const bool lowers = traces.first > wanted;
  const double change = traces.first - traces.second;  // of the trace, either way
  const double share = change > 0 ? std::clamp(std::abs(traces.first - wanted) / change, 0.0, 1.0) : 1;
  return lowers ? Polynomial{0, 1 - share, share, 0, 0} : Polynomial{0, 1 + share, -share, 0, 0};
}

/// Steps that keep the trace need it to be right.
bool has_trace(const Traces& traces, double wanted) {
  const double rounding = std::min(1e-5 * wanted, 0.05);  // of single precision, and less than is_settled looks at
  return std::abs(traces.first - wanted) <= rounding;
}

/// A line that has the trace of few states (or of all but few) leaves them all close to 0 (or 1), from where steps that
/// keep the trace take as many as there are states for one of these.
bool is_far_from_half(double filling) { return filling < 0.2 || filling > 0.8; }

Polynomial hpcp_step(const Traces& traces) {
  const double c = cubic_balance(traces);
  return {0, 1 - 2 * c, 2 + 2 * c, -2, 0};
}

Polynomial tc2_step(const Traces& traces, Index occupied, bool settled, const Polynomial& last, Interval frontier) {
  if (settled && last == squaring) return mirrored_squaring;
  if (settled && last == mirrored_squaring) return squaring;
  const bool lowers = traces.first > number(occupied);
  if (settled) return lowers ? squaring : mirrored_squaring;
  if (lowers) {
    const double slope = 2 / (2 - frontier.low);
    const double shift = 1 - slope;
    return {shift * shift, 2 * slope * shift, slope * slope, 0, 0};
  }
  const double slope = 2 / (1 + frontier.high);
  return {0, 2 * slope, -slope * slope, 0, 0};
}

// X²(4X - 3X²) + gamma X²(1 - X)², where gamma makes the trace right, as far as one in [0, 6] does.
Polynomial trs4_step(const Traces& traces, Index occupied) {
  const double raised = 4 * traces.third - 3 * traces.fourth;
  const double bent = traces.second - 2 * traces.third + traces.fourth;
  if (!(bent > 0)) return mcweeny_step;
  const double gamma = (number(occupied) - raised) / bent;
  if (gamma > 6) return mirrored_squaring;
  if (gamma < 0) return squaring;
  return {0, 0, gamma, 4 - 2 * gamma, gamma - 3};
}

constexpr double cubic_constant = 4;
constexpr double square_constant = 4.41;  // the largest (1 + x)²(2 - x²) for x in [0, 1], at x = (√17 - 1)/4

bool are_alternate(const Polynomial& a, const Polynomial& b) {
  return (a == squaring && b == mirrored_squaring) || (a == mirrored_squaring && b == squaring);
}

}  // namespace

std::string_view name(Method method) noexcept {
  constexpr std::array<std::string_view, methods.size()> names{"canonical", "mcweeny", "tc2", "trs4", "hpcp"};
  return names[static_cast<std::size_t>(method)];
}

Method parse_method(std::string_view text) {
  for (const Method method : methods) {
    if (text == name(method)) return method;
  }
  throw ArgumentError(fmt::format("'{}' is no method; expected canonical, mcweeny, tc2, trs4 or hpcp", text));
}

Occupation initial_occupation(Method method, Index occupied, Index states, Interval spectrum, double mean,
                              double chemical_potential) {
  PLAIT_ASSERT(occupied > 0 && occupied < states && spectrum.width() > 0, "there is something to purify");
  const double n = number(states);
  switch (method) {
    case Method::canonical:
    case Method::hpcp: {
      if (is_far_from_half(number(occupied) / n)) return {spectrum.high / spectrum.width(), -1 / spectrum.width(), {}};
      const double scale =
          std::min(number(occupied) / (spectrum.high - mean), number(states - occupied) / (mean - spectrum.low)) / n;
      return {scale * mean + number(occupied) / n, -scale, {}};
    }
    case Method::mcweeny: {
      const double scale =
          std::min(1 / (spectrum.high - chemical_potential), 1 / (chemical_potential - spectrum.low)) / 2;
      return {scale * chemical_potential + 0.5, -scale, {}};
    }
    case Method::tc2:
    case Method::trs4: return {spectrum.high / spectrum.width(), -1 / spectrum.width(), {}};
  }
  contract_violated("method", "a method is one of its enumerators", __FILE__, __LINE__);
}

Polynomial next_step(Method method, const Traces& traces, Index occupied, bool settled, const Polynomial& last,
                     Interval frontier) {
  if (method == Method::tc2) return tc2_step(traces, occupied, settled, last, frontier);
  if (settled || method == Method::mcweeny) return mcweeny_step;
  const bool keeps_trace = method == Method::canonical || method == Method::hpcp;
  if (keeps_trace && !has_trace(traces, number(occupied))) return step_to_trace(traces, number(occupied));
  switch (method) {
    case Method::canonical: return canonical_step(traces);
    case Method::hpcp: return hpcp_step(traces);
    default: return trs4_step(traces, occupied);
  }
}

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

std::optional<Index> products_needed(Method method, std::span<const double> energies, Index occupied,
                                     bool knows_frontier) {
  const auto first_empty = static_cast<std::size_t>(occupied);
  const double n = number(std::ssize(energies));
  const double mean = std::accumulate(energies.begin(), energies.end(), 0.0) / n;
  const double middle = std::midpoint(energies[first_empty - 1], energies[first_empty]);
  const Occupation begin =
      initial_occupation(method, occupied, std::ssize(energies), {energies.front(), energies.back()}, mean, middle);
  std::vector<double> x;
  for (const double energy : energies) x.push_back(begin.of(energy));
  std::vector<Iterate> iterates;
  Index products = 1;  // of the last iterate, whose square tells that it is the last
  while (!is_next_to_last(iterates)) {
    constexpr std::ptrdiff_t most_steps = 300;
    if (std::ssize(iterates) == most_steps) return std::nullopt;
    Iterate iterate;
    Traces traces;
    double error = 0;
    for (const double each : x) {
      const double square = each * each, rest = each - square;
      traces.first += each;
      traces.second += square;
      traces.third += square * each;
      traces.fourth += square * square;
      error += rest * rest;
    }
    iterate.trace = traces.first;
    iterate.missing_trace = traces.first - traces.second;
    iterate.idempotency_error = std::sqrt(error);
    const bool was_settled = !iterates.empty() && iterates.back().settled;
    iterate.settled = was_settled || is_settled(iterate, occupied);
    const Polynomial last = iterates.empty() ? Polynomial{} : iterates.back().step;
    const Interval frontier =
        knows_frontier ? Interval{x[first_empty], x[first_empty - 1]} : Interval{x.back(), x.front()};
    iterate.step = next_step(method, traces, occupied, iterate.settled, last, frontier);
    for (double& each : x) each = value(iterate.step, each);
    products += uses_cube(method) || method == Method::trs4 ? 2 : 1;
    iterates.push_back(iterate);
  }
  return products;
}

}  // namespace plait::purify
