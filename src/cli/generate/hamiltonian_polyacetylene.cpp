#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "plait/base/error.hpp"

#include "cli/generate/hamiltonian_kinds.hpp"

namespace plait::cli {

namespace {

constexpr double usual_gap_of_bonds = 0.56;  // 1.4 eV at a mean hopping of 2.5 eV: Su, Schrieffer, Heeger 1979
constexpr double largest_gap = 4;            // where the ring falls into pairs

// With M cells the levels are ±√(s² + t² + 2 s t cos k), s = 1 + d and t = 1 - d, at the M multiples k of 2π/M: nearest
// to 0 at π, or the multiple next to it. So (gap/2)² = 2(1 - c) + 2(1 + c) d² with this c.
double cosine(Index cells) { return cells % 2 == 0 ? 1 : std::cos(std::numbers::pi / static_cast<double>(cells)); }

}  // namespace

Hamiltonian make_polyacetylene(const HamiltonianRequest& request) {
  expect_no_filling(request);
  expect_no_seed(request);
  const Index size = asked_size(request, [](Index n) { return n >= 4 && n % 2 == 0; });
  const double c = cosine(size / 2);
  const double least = 2 * std::sqrt(2 * (1 - c));
  const double gap = request.gap.value_or(std::max(usual_gap_of_bonds, least));
  if (!(gap >= least && gap <= largest_gap)) {
    throw ArgumentError(fmt::format("--gap: a ring of {} sites of polyacetylene has none of {}, expected {:.6g} to {}",
                                    size, gap, least, largest_gap));
  }
  const double d = std::sqrt(std::max(0.0, (gap * gap / 4 - 2 * (1 - c)) / (2 * (1 + c))));
  Hamiltonian result;
  result.size = size;
  result.electrons = size;
  result.gap = gap;
  result.description = fmt::format("polyacetylene of {} sites, hopping {:.6g} and {:.6g} in turn", size, -1 - d, d - 1);
  result.rows = [size, d]() -> HamiltonianRow {
    return [size, d](Index i, std::span<double> into) {
      std::ranges::fill(into, 0.0);
      const bool even = i % 2 == 0;
      into[static_cast<std::size_t>((i + 1) % size)] = even ? -1 - d : d - 1;
      into[static_cast<std::size_t>((i + size - 1) % size)] = even ? d - 1 : -1 - d;
    };
  };
  return result;
}

}  // namespace plait::cli
