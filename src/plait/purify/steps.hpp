#pragma once

#include "plait/base/index.hpp"
#include "plait/purify/convergence.hpp"
#include "plait/purify/method.hpp"
#include "plait/purify/occupation.hpp"

/// The polynomials of the methods. Pure functions of traces.
namespace plait::purify {

/// Traces of powers of an iterate X.
struct Traces {
  double first = 0;   ///< tr X
  double second = 0;  ///< tr X²
  double third = 0;   ///< tr X³
  double fourth = 0;  ///< tr X⁴
};

inline constexpr Polynomial squaring{0, 0, 1, 0, 0};            ///< x²: lowers the trace
inline constexpr Polynomial mirrored_squaring{0, 2, -1, 0, 0};  ///< 2x - x²: raises it
inline constexpr Polynomial mcweeny_step{0, 0, 3, -2, 0};

/// Where a method begins:  X = shift + slope·H  with occupations in [0, 1]. What keeps the trace begins with the right
/// one, or, where less than a fifth of the states is occupied or empty, with steps X² or 2X - X² and a part of one that
/// lead to it: any increasing map of [0, 1] into itself will do, and these spread the states further than a line.
///
/// \param mean  tr(H) / states; only for those that keep the trace
/// \pre   0 < occupied < states, spectrum.low < spectrum.high, and for McWeeny
///        spectrum.low < chemical_potential < spectrum.high
[[nodiscard]] Occupation initial_occupation(Method method, Index occupied, Index states, Interval spectrum, double mean,
                                            double chemical_potential);

/// The next step. Settled iterates take 3x² - 2x³, but for TC2, where x² and 2x - x² take turns: both orders are known,
/// and traces that only consist of rounding decide nothing.
///
/// As long as it is not settled, TC2 stretches and folds:  x² of the line that takes 0 and the low end of `frontier` to
/// -y and y, and the mirror image. What is below that end stays so, and the states at the gap part faster.
///
/// \param last      the step before, or all 0
/// \param frontier  the occupations between which the states at the gap are
/// Source: Rubensson, "Nonmonotonic recursive polynomial expansions for linear scaling calculation of the density
/// matrix", JCTC 7, 1233 (2011).
[[nodiscard]] Polynomial next_step(Method method, const Traces& traces, Index occupied, bool settled,
                                   const Polynomial& last, Interval frontier);

/// Whether a step takes X³ in any case, so that X² and X³ are computed together.
[[nodiscard]] constexpr bool uses_cube(Method method) noexcept {
  return method == Method::canonical || method == Method::mcweeny || method == Method::hpcp;
}

}  // namespace plait::purify
