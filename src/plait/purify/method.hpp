#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "plait/base/index.hpp"
#include "plait/purify/occupation.hpp"

/// The methods of purification: where each begins, its polynomials, and when it ends. Pure functions of numbers.
namespace plait::purify {

/// Polynomial iterations that turn a Hamiltonian into the projector onto its lowest states. Each iterate is a
/// polynomial of the one before; all converge with order 2 (TC2 in two steps) once it is settled which states are
/// occupied.
enum class Method : unsigned char {
  canonical,  ///< keeps the trace; X² and X³ a step. Palser, Manolopoulos, Phys. Rev. B 58, 12704 (1998)
  mcweeny,    ///< 3X² - 2X³, for a known chemical potential. McWeeny, Rev. Mod. Phys. 32, 335 (1960)
  tc2,        ///< X² or 2X - X²: one product a step. Niklasson, Phys. Rev. B 66, 155115 (2002)
  trs4,       ///< corrects the trace by a polynomial of order 4. Niklasson, Tymczak, Challacombe, JCP 118, 8611 (2003)
  hpcp,       ///< of particles and holes alike; keeps the trace. Truflandier, Dianzinga, Bowler, JCP 144, 091102 (2016)
};

/// "canonical", "mcweeny", "tc2", "trs4", "hpcp".
[[nodiscard]] std::string_view name(Method method) noexcept;

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
/// As long as it is not settled, TC2 scales and folds:  x² of the line that takes 0 and the low end of `frontier` to
/// -0.99 y and y, and the mirror image. What is below that end stays so, and the states at the gap part faster. With -y
/// far states would meet one at the gap, which rounding would mix with them, and so with the one on the other side.
///
/// \param last      the step before, or all 0
/// \param frontier  the occupations between which the states at the gap are
/// Source: Rubensson, "Nonmonotonic recursive polynomial expansions for linear scaling calculation of the density
/// matrix", JCTC 7, 1233 (2011).
[[nodiscard]] Polynomial next_step(Method method, const Traces& traces, Index occupied, bool settled,
                                   const Polynomial& last, Interval frontier);

/// Between which occupations the states at the gap are for certain, whatever iterate of so many states has these
/// traces: more than `occupied` states are above the low end, and fewer are from the high end on. Of all sets of
/// occupations with these traces the one with the fewest above t consists of t and two others, or of 0, t, another
/// and 1.
///
/// Source: Krein, Nudelman, "The Markov Moment Problem and Extremal Problems" (1977), on canonical representations.
[[nodiscard]] Interval frontier_of_traces(const Traces& traces, Index occupied, Index states);

/// Whether a step takes X³ in any case, so that X² and X³ are computed together.
[[nodiscard]] constexpr bool uses_cube(Method method) noexcept {
  return method == Method::canonical || method == Method::mcweeny || method == Method::hpcp;
}

/// Whether each state is so close to 0 or 1 that steps of order 2 bring it there, and `occupied` of them to 1.
[[nodiscard]] bool is_settled(const Iterate& iterate, Index occupied) noexcept;

/// True if the last iterate is as good as rounding allows. Without rounding, the errors e of settled iterates obey
///   e_i <= 4 e_(i-1)²          after a step 3X² - 2X³, as x'(1 - x') = e²(3 + 4e) with e = x(1 - x) <= 1/4;
///   e_i <= 4.41 e_(i-2)²       after X² and 2X - X² in either order, as there x''(1 - x'') = e²(1 + x)²(2 - x²),
/// state by state, and so in the Frobenius norm. An iterate that does not is dominated by rounding, and no later one is
/// better. Nothing has to be chosen, and slow progress before the end is not mistaken for it.
///
/// Source: Kruchinina, Rudberg, Rubensson, "Parameterless stopping criteria for recursive density matrix expansions",
/// JCTC 12, 5788 (2016); the constants are those of the steps above.
[[nodiscard]] bool is_converged(std::span<const Iterate> iterates) noexcept;

/// Whether a further step after this one can be expected to end at rounding errors: then only its error is to be
/// looked at, not its cube.
[[nodiscard]] bool is_next_to_last(std::span<const Iterate> iterates) noexcept;

/// How many products the iteration takes to its end, as its steps at the eigenvalues alone tell. Empty where it doesn't
/// end within the steps that purifications are allowed: the gap is rounding.
///
/// \param energies        all of them, increasing; spoiled
/// \param knows_frontier  whether the states at the gap are known before, or nothing of them
/// \pre  0 < occupied < the number of energies
[[nodiscard]] std::optional<Index> products_needed(Method method, std::span<double> energies, Index occupied,
                                                   bool knows_frontier = false) noexcept;

}  // namespace plait::purify
