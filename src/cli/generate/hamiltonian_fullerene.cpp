#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "plait/base/error.hpp"

#include "cli/generate/hamiltonian_kinds.hpp"

namespace plait::cli {

namespace {

// Along its axis of five a fullerene of this family has a pentagon, five atoms that each hang on one of it, `rings`
// rings of ten atoms, and the same two fives again. In every ring five pairs of neighbours are bound, those that are
// not in the rings beside it; every atom is bound to the one under it, and to the one above. Two rings have 40 atoms,
// four are C60.
class Fullerene {
 public:
  explicit Fullerene(Index size) : rings_((size - 20) / 10) {}

  [[nodiscard]] std::array<Index, 3> neighbours(Index atom) const {
    const Index end = 10 + 10 * rings_;  // of the rings
    if (atom < 10) return of_cap(atom / 5 == 0, atom % 5, 0, 5, 0);
    if (atom >= end) return of_cap(atom >= end + 5, atom % 5, end + 5, end, rings_ - 1);
    const Index ring = (atom - 10) / 10;
    const Index place = atom % 10;
    const Index partner = ring_atom(ring, pairs_begin_odd(ring) == (place % 2 == 1) ? place + 1 : place + 9);
    return {partner, ring == 0 ? 5 + hung_on(ring, place) : ring_atom(ring - 1, place),
            ring == rings_ - 1 ? end + hung_on(ring, place) : ring_atom(ring + 1, place)};
  }

 private:
  // Whether the bound pairs of a ring are 1-2, 3-4 ... 9-0, and not 0-1, 2-3 ... 8-9.
  [[nodiscard]] static bool pairs_begin_odd(Index ring) { return ring % 2 == 0; }
  [[nodiscard]] static Index ring_atom(Index ring, Index place) { return 10 + 10 * ring + place % 10; }

  // Two atoms of the last ring hang together on an atom of the five: a pair that is not bound.
  [[nodiscard]] static Index hung_on(Index ring, Index place) {
    return pairs_begin_odd(ring) ? place / 2 : (place + 9) % 10 / 2;
  }

  [[nodiscard]] static std::array<Index, 3> of_cap(bool in_pentagon, Index i, Index pentagon, Index five, Index ring) {
    if (in_pentagon) return {pentagon + (i + 1) % 5, pentagon + (i + 4) % 5, five + i};
    const Index first = pairs_begin_odd(ring) ? 2 * i : 2 * i + 1;
    return {pentagon + i, ring_atom(ring, first), ring_atom(ring, first + 1)};
  }

  Index rings_;
};

// Between the five highest occupied levels of C60, h_u at (√5 - 1)/2, and the three lowest empty ones, t_1u at a root
// of x⁴ - 3x³ - 2x² + 7x + 1, a factor of the characteristic polynomial (of the negative matrix).
double gap_of_c60() {
  double x = -0.139;
  for (int newton = 0; newton < 20; ++newton) {
    const double value = (((x - 3) * x - 2) * x + 7) * x + 1;
    x -= value / (((4 * x - 9) * x - 4) * x + 7);
  }
  return (std::sqrt(5.0) - 1) / 2 - x;
}

}  // namespace

Hamiltonian make_fullerene(const HamiltonianRequest& request) {
  expect_no_gap(request);
  expect_no_filling(request);
  expect_no_seed(request);
  const bool is_c60 = request.kind == HamiltonianKind::c60;
  if (is_c60 && request.size.value_or(60) != 60) {
    throw ArgumentError(fmt::format("--size is {}, but c60 has 60 sites; --kind fullerene has others", *request.size));
  }
  const Index size = is_c60 ? 60 : asked_size(request, [](Index n) { return n >= 40 && n % 10 == 0; });
  Hamiltonian result;
  result.size = size;
  result.electrons = size;
  if (size == 60) result.gap = gap_of_c60();
  result.description = fmt::format("C{}, Hückel", size);
  result.rows = [size]() -> HamiltonianRow {
    return [molecule = Fullerene(size)](Index i, std::span<double> into) {
      std::ranges::fill(into, 0.0);
      for (const Index j : molecule.neighbours(i)) into[static_cast<std::size_t>(j)] = -1;
    };
  };
  return result;
}

}  // namespace plait::cli
