#include "plait/purify/method.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "plait/base/contract.hpp"

namespace plait::purify {

namespace {

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
  // A state at the gap next to 1 (or 0) is as good as there: to fold would keep the others from 0 (or 1), too.
  constexpr double least_room = 0.02;
  // Of the distance at which far states would meet one at the gap.
  constexpr double reach = 0.99;
  if (lowers) {
    if (1 - frontier.low < least_room) return squaring;
    const double slope = (1 + reach) / (1 + reach - reach * frontier.low);
    const double shift = 1 - slope;
    return {shift * shift, 2 * slope * shift, slope * slope, 0, 0};
  }
  if (frontier.high < least_room) return mirrored_squaring;
  const double slope = (1 + reach) / (1 + reach * frontier.high);
  return {0, 2 * slope, -slope * slope, 0, 0};
}

/// Σ x^k, k = 0 … 4, of numbers in [0, 1].
using PowerSums = std::array<double, 5>;

PowerSums mirrored(const PowerSums& m) {
  return {m[0], m[0] - m[1], m[0] - 2 * m[1] + m[2], m[0] - 3 * m[1] + 3 * m[2] - m[3],
          m[0] - 4 * m[1] + 6 * m[2] - 4 * m[3] + m[4]};
}

constexpr double least_distance = 0.01;  // of points that are told apart

/// The weights of 0, t, a and 1, if there is an a with these sums, that lie above t.
std::optional<double> above_with_ends(const PowerSums& m, double t) {
  // Σ x^k (1 - x), to which 0 and 1 add nothing
  const double first = m[1] - m[2], second = m[2] - m[3], third = m[3] - m[4];
  const double rest = second - t * first;
  const double a = (third - t * second) / rest;
  if (!(a > 0 && a < 1 && std::abs(a - t) > least_distance)) return std::nullopt;
  const double of_a = rest / (a * (1 - a) * (a - t));
  const double of_t = (second - a * first) / (t * (1 - t) * (t - a));
  const double of_1 = m[1] - a * of_a - t * of_t;
  if (std::min({of_a, of_t, of_1, m[0] - of_a - of_t - of_1}) < 0) return std::nullopt;
  return of_1 + (a > t ? of_a : 0);
}

/// The same of t, a and b.
std::optional<double> above_inside(const PowerSums& m, double t) {
  // x² + px + q is 0 at a and b: orthogonal to 1 and x by the weight x - t
  std::array<double, 4> u{};
  for (std::size_t k = 0; k < u.size(); ++k) u[k] = m[k + 1] - t * m[k];
  const double determinant = u[1] * u[1] - u[0] * u[2];
  const double p = (u[0] * u[3] - u[1] * u[2]) / determinant;
  const double q = (u[2] * u[2] - u[1] * u[3]) / determinant;
  const double half = std::sqrt(p * p / 4 - q);
  const std::array<double, 3> points{t, -p / 2 - half, -p / 2 + half};
  if (!(points[1] >= 0 && points[2] <= 1)) return std::nullopt;
  double above = 0;
  double third = 0, fourth = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double x = points[i], y = points[(i + 1) % 3], z = points[(i + 2) % 3];
    if (std::abs(x - y) < least_distance) return std::nullopt;
    const double weight = (m[2] - (y + z) * m[1] + y * z * m[0]) / ((x - y) * (x - z));
    if (weight < 0) return std::nullopt;
    if (x > t) above += weight;
    third += weight * x * x * x;
    fourth += weight * x * x * x * x;
  }
  const double rounding = 1e-9 * m[0];
  if (std::abs(third - m[3]) > rounding || std::abs(fourth - m[4]) > rounding) return std::nullopt;
  return above;
}

/// The highest t of some that more than `count` of the numbers are above; 0 if these sums tell of none.
double level_below(const PowerSums& m, Index count) {
  constexpr double slack = 0.01;  // of a number, for rounding
  constexpr int parts = 64;
  double level = 0;
  for (int i = 1; i < parts; ++i) {
    const double t = static_cast<double>(i) / parts;
    auto above = above_with_ends(m, t);
    if (!above) above = above_inside(m, t);
    if (!above) continue;
    if (*above <= number(count) + slack) break;
    level = t;
  }
  return level;
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
  constexpr std::array<std::string_view, 5> names{"canonical", "mcweeny", "tc2", "trs4", "hpcp"};
  return names[static_cast<std::size_t>(method)];
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

Interval frontier_of_traces(const Traces& traces, Index occupied, Index states) {
  const PowerSums sums{number(states), traces.first, traces.second, traces.third, traces.fourth};
  return {level_below(sums, occupied), 1 - level_below(mirrored(sums), states - occupied)};
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

std::optional<Index> products_needed(Method method, std::span<double> energies, Index occupied,
                                     bool knows_frontier) noexcept {
  const auto first_empty = static_cast<std::size_t>(occupied);
  const double n = number(std::ssize(energies));
  const double mean = std::accumulate(energies.begin(), energies.end(), 0.0) / n;
  const double middle = std::midpoint(energies[first_empty - 1], energies[first_empty]);
  const Occupation begin =
      initial_occupation(method, occupied, std::ssize(energies), {energies.front(), energies.back()}, mean, middle);
  const std::span<double> x = energies;
  for (double& each : x) each = begin.of(each);
  Interval frontier{x.back(), x.front()};
  Iterate iterate;
  Index products = 1;  // of the last iterate, whose square tells that it is the last
  for (int step = 0; !is_next_to_last({&iterate, 1}); ++step) {
    constexpr int most_steps = 300;
    if (step == most_steps) return std::nullopt;
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
    iterate.settled = iterate.settled || is_settled(iterate, occupied);
    if (knows_frontier) {
      frontier = {x[first_empty], x[first_empty - 1]};
    } else {
      const Interval found = frontier_of_traces(traces, occupied, std::ssize(x));
      frontier = {std::max(frontier.low, found.low), std::min(frontier.high, found.high)};
    }
    iterate.step = next_step(method, traces, occupied, iterate.settled, iterate.step, frontier);
    for (double& each : x) each = value(iterate.step, each);
    frontier = {value(iterate.step, frontier.low), value(iterate.step, frontier.high)};
    products += uses_cube(method) || method == Method::trs4 ? 2 : 1;
  }
  return products;
}

}  // namespace plait::purify
