#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plait/base/index.hpp"

namespace plait::cli {

/// The model Hamiltonians of `plait generate hamiltonian`: real symmetric matrices whose spectrum is known, to try
/// density-matrix methods on.
inline constexpr std::array<std::string_view, 5> hamiltonian_kinds{"c60", "fullerene", "polyacetylene", "graphene",
                                                                   "prescribed"};

/// What is asked for; what is not given has a value of the kind's own.
struct HamiltonianRequest {
  std::string_view kind;  // one of those
  std::optional<Index> size;
  std::optional<double> gap;
  std::optional<double> filling;
  std::optional<std::uint64_t> seed;
};

/// One of them. Any rank can make any row, so each makes its own.
struct Hamiltonian {
  Index size = 0;
  Index electrons = 0;        // that fill the levels below the gap, two in each; half filling, but for `prescribed`
  std::optional<double> gap;  // between the highest level of these and the lowest of the others, if it is known
  std::string description;    // for people
  /// Puts what is not 0 of row (which is also column) `i` into zeros.
  std::function<void(Index i, std::span<double> into)> row;
};

/// c60 — Hückel's model of C60: -1 between neighbours, 0 elsewhere, in units of the resonance integral. 60 atoms.
///
/// fullerene — the same of C60 with rings of ten atoms put in at its equator, or taken out: 40, 50, 60, 70 ... atoms.
///
/// polyacetylene — a ring of an even number of sites, from 4, bound by -(1 + d) and -(1 - d) in turn (Su, Schrieffer,
/// Heeger), with d such that the gap is as asked; 0.56 by default, or as near as a small ring comes to it.
///
/// graphene — a torus of a × b cells of two sites, with a · b as near to a square as the size allows and both at least
/// 2: -1 between neighbours, m and -m on the two sites of a cell, with m such that the gap is as asked. By default m is
/// 1/8, and the gap 1/4 where the torus has none of its own.
///
/// prescribed — levels from 0 to 1 at equal distances but for the gap (0.1 by default) above the lowest `filling` (one
/// half by default) of them, on the diagonal of a matrix that is then transformed by four reflections
/// (Householder) of random directions. From 3 levels.
///
/// \throws ArgumentError  beginning with the option: the kind has no such size (names the nearest that it has), gap or
///                        filling; or an option is given that is none of this kind's
[[nodiscard]] Hamiltonian make_hamiltonian(const HamiltonianRequest& request);

}  // namespace plait::cli
