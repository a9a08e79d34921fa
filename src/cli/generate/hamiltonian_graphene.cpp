#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "plait/base/error.hpp"

#include "cli/generate/hamiltonian_kinds.hpp"

namespace plait::cli {

namespace {

constexpr double usual_gap_of_sublattices = 0.25;
constexpr double largest_gap_of_sublattices = 1e30;  // half of it fits a float, and its square a double

// The sides of the torus, a <= b, with a · b cells; a is 1 if there is no other way.
struct Torus {
  Index a = 1;
  Index b = 1;
};

Torus torus_of(Index cells) {
  for (auto a = static_cast<Index>(std::sqrt(static_cast<double>(cells))); a > 1; --a) {
    if (cells % a == 0) return {a, cells / a};
  }
  return {1, cells};
}

// With no mass the levels are ±|1 + exp(ik) + exp(il)|, k a multiple of 2π/a and l one of 2π/b: 0 at the corners of the
// Brillouin zone, which are among these if 3 divides both. For each k only the two l beside the best one are looked at.
double least_level(const Torus& torus) {
  const auto wave = [](Index multiple, Index of) {
    return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(multiple) / static_cast<double>(of));
  };
  if (torus.a % 3 == 0 && torus.b % 3 == 0) return 0;
  double least = std::numeric_limits<double>::max();
  for (Index i = 0; i < torus.a; ++i) {
    const auto rest = 1.0 + wave(i, torus.a);
    const double best = std::arg(-rest) / (2 * std::numbers::pi) * static_cast<double>(torus.b);
    for (const double j : {std::floor(best), std::ceil(best)}) {
      least = std::min(least, std::abs(rest + wave(static_cast<Index>(j), torus.b)));
    }
  }
  return least;
}

}  // namespace

Hamiltonian make_graphene(const HamiltonianRequest& request) {
  expect_no_filling(request);
  expect_no_seed(request);
  // Two sites a cell; a torus one cell wide would bind an atom to another twice.
  const Index size = asked_size(request, [](Index n) { return n % 2 == 0 && torus_of(n / 2).a >= 2; });
  const Torus torus = torus_of(size / 2);
  const double level = least_level(torus);
  const double gap = request.gap.value_or(std::hypot(2 * level, usual_gap_of_sublattices));
  if (!(gap >= 2 * level && gap <= largest_gap_of_sublattices)) {
    throw ArgumentError(fmt::format("--gap: graphene of {} x {} cells has none of {}, expected {:.6g} to {}", torus.a,
                                    torus.b, gap, 2 * level, largest_gap_of_sublattices));
  }
  const double mass = std::sqrt(std::max(0.0, gap * gap / 4 - level * level));
  Hamiltonian result;
  result.size = size;
  result.electrons = size;
  result.gap = gap;
  result.description = fmt::format("graphene of {} x {} cells, {:.6g} and {:.6g} on the two sites of each", torus.a,
                                   torus.b, mass, -mass);
  result.rows = [torus, mass]() -> HamiltonianRow {
    return [torus, mass](Index site, std::span<double> into) {
      std::ranges::fill(into, 0.0);
      into[static_cast<std::size_t>(site)] = site % 2 == 0 ? mass : -mass;
      // Site 0 of a cell is bound to site 1 of the same one, of the one before in its row and of the one before in its
      // column; and the other way round.
      const Index cell = site / 2;
      const Index i = cell / torus.b;
      const Index j = cell % torus.b;
      const Index back_a = site % 2 == 0 ? torus.a - 1 : 1;
      const Index back_b = site % 2 == 0 ? torus.b - 1 : 1;
      for (const Index other : {cell, (i + back_a) % torus.a * torus.b + j, i * torus.b + (j + back_b) % torus.b}) {
        into[static_cast<std::size_t>(2 * other + (site % 2 == 0 ? 1 : 0))] = -1;
      }
    };
  };
  return result;
}

}  // namespace plait::cli
