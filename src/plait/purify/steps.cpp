#include "plait/purify/steps.hpp"

#include <algorithm>

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

Polynomial hpcp_step(const Traces& traces) {
  const double c = cubic_balance(traces);
  return {0, 1 - 2 * c, 2 + 2 * c, -2, 0};
}

Polynomial tc2_step(const Traces& traces, Index occupied, bool settled, const Polynomial& last) {
  if (settled && last == squaring) return mirrored_squaring;
  if (settled && last == mirrored_squaring) return squaring;
  return traces.first > number(occupied) ? squaring : mirrored_squaring;
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

}  // namespace

Occupation initial_occupation(Method method, Index occupied, Index states, Interval spectrum, double mean,
                              double chemical_potential) {
  PLAIT_ASSERT(occupied > 0 && occupied < states && spectrum.width() > 0, "there is something to purify");
  const double n = number(states);
  switch (method) {
    case Method::canonical:
    case Method::hpcp: {
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

Polynomial next_step(Method method, const Traces& traces, Index occupied, bool settled, const Polynomial& last) {
  if (method == Method::tc2) return tc2_step(traces, occupied, settled, last);
  if (settled || method == Method::mcweeny) return mcweeny_step;
  switch (method) {
    case Method::canonical: return canonical_step(traces);
    case Method::hpcp: return hpcp_step(traces);
    default: return trs4_step(traces, occupied);
  }
}

}  // namespace plait::purify
