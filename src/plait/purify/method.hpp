#pragma once

#include <string_view>

#include "plait/base/index.hpp"

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

/// \throws ArgumentError  naming the text and all that it could be; `auto` is none of them
[[nodiscard]] Method parse_method(std::string_view text);

/// What serves best without a chemical potential: near half filling `canonical`, whose square and cube are one
/// operation, else `tc2`, which takes the fewest products, whatever the filling; and `tc2` wherever an interval that
/// holds the states at the gap is known, as it alone makes use of that.
[[nodiscard]] Method choose_method(Index occupied, Index states, bool knows_frontier = false) noexcept;

}  // namespace plait::purify
