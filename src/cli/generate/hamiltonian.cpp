#include "cli/generate/hamiltonian.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"
#include "plait/layout/shape.hpp"

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

bool has_fullerene(Index n) { return n >= 40 && n % 10 == 0; }

Hamiltonian make_fullerene(const HamiltonianRequest& /*request*/, Index size) {
  return {.electrons = size,
          .gap = size == 60 ? std::optional(gap_of_c60()) : std::nullopt,
          .description = fmt::format("C{}, Hückel", size),
          .row = [molecule = Fullerene(size)](Index i, std::span<double> into) {
            for (const Index j : molecule.neighbours(i)) into[at(j)] = -1;
          }};
}

constexpr double usual_gap_of_bonds = 0.56;  // 1.4 eV at a mean hopping of 2.5 eV: Su, Schrieffer, Heeger 1979
constexpr double largest_gap = 4;            // where the ring falls into pairs

// With M cells the levels are ±√(s² + t² + 2 s t cos k), s = 1 + d and t = 1 - d, at the M multiples k of 2π/M: nearest
// to 0 at π, or the multiple next to it. So (gap/2)² = 2(1 - c) + 2(1 + c) d² with this c.
double cosine(Index cells) { return cells % 2 == 0 ? 1 : std::cos(std::numbers::pi / static_cast<double>(cells)); }

bool has_polyacetylene(Index n) { return n >= 4 && n % 2 == 0; }

Hamiltonian make_polyacetylene(const HamiltonianRequest& request, Index size) {
  const double c = cosine(size / 2);
  const double least = 2 * std::sqrt(2 * (1 - c));
  const double gap = request.gap.value_or(std::max(usual_gap_of_bonds, least));
  if (!(gap >= least && gap <= largest_gap)) {
    throw ArgumentError(fmt::format("--gap: a ring of {} sites of polyacetylene has none of {}, expected {:.6g} to {}",
                                    size, gap, least, largest_gap));
  }
  const double d = std::sqrt(std::max(0.0, (gap * gap / 4 - 2 * (1 - c)) / (2 * (1 + c))));
  return {
      .electrons = size,
      .gap = gap,
      .description = fmt::format("polyacetylene of {} sites, hopping {:.6g} and {:.6g} in turn", size, -1 - d, d - 1),
      .row = [size, d](Index i, std::span<double> into) {
        const bool even = i % 2 == 0;
        into[at((i + 1) % size)] = even ? -1 - d : d - 1;
        into[at((i + size - 1) % size)] = even ? d - 1 : -1 - d;
      }};
}

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

/// Two sites a cell; a torus one cell wide would bind an atom to another twice.
bool has_graphene(Index n) { return n % 2 == 0 && torus_of(n / 2).a >= 2; }

Hamiltonian make_graphene(const HamiltonianRequest& request, Index size) {
  const Torus torus = torus_of(size / 2);
  const double level = least_level(torus);
  const double gap = request.gap.value_or(std::hypot(2 * level, usual_gap_of_sublattices));
  if (!(gap >= 2 * level && gap <= largest_gap_of_sublattices)) {
    throw ArgumentError(fmt::format("--gap: graphene of {} x {} cells has none of {}, expected {:.6g} to {}", torus.a,
                                    torus.b, gap, 2 * level, largest_gap_of_sublattices));
  }
  const double mass = std::sqrt(std::max(0.0, gap * gap / 4 - level * level));
  // Site 0 of a cell is bound to site 1 of the same one, of the one before in its row and of the one before in its
  // column; and the other way round.
  const auto row = [torus, mass](Index site, std::span<double> into) {
    into[at(site)] = site % 2 == 0 ? mass : -mass;
    const Index cell = site / 2;
    const Index i = cell / torus.b;
    const Index j = cell % torus.b;
    const Index back_a = site % 2 == 0 ? torus.a - 1 : 1;
    const Index back_b = site % 2 == 0 ? torus.b - 1 : 1;
    for (const Index other : {cell, (i + back_a) % torus.a * torus.b + j, i * torus.b + (j + back_b) % torus.b}) {
      into[at(2 * other + (site % 2 == 0 ? 1 : 0))] = -1;
    }
  };
  return {.electrons = size,
          .gap = gap,
          .description = fmt::format("graphene of {} x {} cells, {:.6g} and {:.6g} on the two sites of each", torus.a,
                                     torus.b, mass, -mass),
          .row = row};
}

constexpr double usual_gap_of_levels = 0.1;
constexpr double usual_filling = 0.5;
constexpr int reflections = 4;

using Vector = std::vector<double>;

double dot(const Vector& x, const Vector& y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0.0); }

// From 0 to 1, with `gap` above the lowest `occupied`, and equal distances elsewhere.
Vector levels(Index size, Index occupied, double gap) {
  Vector result(at(size));
  const double distance = (1 - gap) / static_cast<double>(size - 2);
  for (Index i = 0; i < size; ++i) {
    result[at(i)] = i < occupied ? static_cast<double>(i) * distance : 1 - static_cast<double>(size - 1 - i) * distance;
  }
  return result;
}

// diag(levels) - Σ (w qᵀ + q wᵀ): each reflection I - 2 w wᵀ from both sides takes one such pair more, as
// (I - 2 w wᵀ) H (I - 2 w wᵀ) = H - w qᵀ - q wᵀ with q = 2 H w - 2 (wᵀ H w) w. So a row costs a few operations an
// element.
class Reflected {
 public:
  Reflected(Vector levels, std::uint64_t seed) : levels_(std::move(levels)) {
    for (int r = 0; r < reflections; ++r) reflect(direction(seed, r));
  }

  void row(Index i, std::span<double> into) const {
    const auto own = at(i);
    into[own] = levels_[own];
    for (const auto& [w, q] : pairs_) {
      // The same operations on either side of the diagonal, so that the matrix is symmetric to the last bit.
      for (std::size_t j = 0; j < own; ++j) into[j] -= w[j] * q[own] + q[j] * w[own];
      for (std::size_t j = own; j < into.size(); ++j) into[j] -= w[own] * q[j] + q[own] * w[j];
    }
  }

 private:
  [[nodiscard]] Vector direction(std::uint64_t seed, int reflection) const {
    Vector w(levels_.size());
    const auto first = static_cast<std::uint64_t>(reflection) * w.size();
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = random_uniform(seed, first + i) - 0.5;
    const double length = std::sqrt(dot(w, w));
    for (double& x : w) x /= length;
    return w;
  }

  void reflect(Vector w) {
    Vector q(w.size());  // H w
    for (std::size_t i = 0; i < w.size(); ++i) q[i] = levels_[i] * w[i];
    for (const auto& [v, p] : pairs_) {
      const double along_p = dot(p, w);
      const double along_v = dot(v, w);
      for (std::size_t i = 0; i < w.size(); ++i) q[i] -= v[i] * along_p + p[i] * along_v;
    }
    const double middle = dot(w, q);
    for (std::size_t i = 0; i < w.size(); ++i) q[i] = 2 * (q[i] - middle * w[i]);
    pairs_.emplace_back(std::move(w), std::move(q));
  }

  Vector levels_;
  std::vector<std::pair<Vector, Vector>> pairs_;
};

Hamiltonian make_prescribed(const HamiltonianRequest& request, Index size) {
  const double filling = request.filling.value_or(usual_filling);
  const double gap = request.gap.value_or(usual_gap_of_levels);
  const std::uint64_t seed = request.seed.value_or(0);
  if (!(filling > 0 && filling < 1)) {
    throw ArgumentError(fmt::format("--filling is {}, expected a part of the levels, between 0 and 1", filling));
  }
  if (!(gap > 0 && gap <= 1)) {
    throw ArgumentError(fmt::format("--gap is {}, expected more than 0 and at most 1, the width of all levels", gap));
  }
  const Index occupied = std::clamp<Index>(std::llround(filling * static_cast<double>(size)), 1, size - 1);
  // Made when the first row is asked for, as it takes time and memory.
  const auto row = [size, occupied, gap, seed, matrix = std::optional<Reflected>()](Index i,
                                                                                    std::span<double> into) mutable {
    if (!matrix) matrix.emplace(levels(size, occupied, gap), seed);
    matrix->row(i, into);
  };
  return {.electrons = 2 * occupied,
          .gap = gap,
          .description = fmt::format("levels from 0 to 1, {} below the gap, seed {}", occupied, seed),
          .row = row};
}

struct Model {
  bool (*has_size)(Index);
  Hamiltonian (*make)(const HamiltonianRequest&, Index size);
};
constexpr std::array<Model, hamiltonian_kinds.size()> models{{{[](Index n) { return n == 60; }, make_fullerene},
                                                              {has_fullerene, make_fullerene},
                                                              {has_polyacetylene, make_polyacetylene},
                                                              {has_graphene, make_graphene},
                                                              {[](Index n) { return n >= 3; }, make_prescribed}}};

const Model& model_of(std::string_view kind) {
  return models[at(std::ranges::find(hamiltonian_kinds, kind) - hamiltonian_kinds.begin())];
}

/// Options that only some kinds have must not be given with others.
void expect_own_options(const HamiltonianRequest& request) {
  const auto refuse = [&](bool given, const char* option, const char* belongs_to) {
    if (!given) return;
    throw ArgumentError(
        fmt::format("{} is given, but --kind is {}; expected it with {} only", option, request.kind, belongs_to));
  };
  if (request.kind == "prescribed") return;
  const bool takes_gap = request.kind == "polyacetylene" || request.kind == "graphene";
  refuse(!takes_gap && request.gap, "--gap", "polyacetylene, graphene and prescribed");
  refuse(request.filling.has_value(), "--filling", "prescribed");
  refuse(request.seed.has_value(), "--seed", "prescribed");
}

/// The size that is asked for.
///
/// \throws ArgumentError  none is given; there is none of this kind, naming the nearest below and above; or it is too
///                        large for a matrix
Index asked_size(const HamiltonianRequest& request) {
  const bool is_c60 = request.kind == "c60";
  if (is_c60 && request.size.value_or(60) != 60) {
    throw ArgumentError(fmt::format("--size is {}, but c60 has 60 sites; --kind fullerene has others", *request.size));
  }
  if (is_c60) return 60;
  if (!request.size) throw ArgumentError(fmt::format("--size is missing: how many sites has {}?", request.kind));
  const Index size = *request.size;
  try {
    if (size > 0) static_cast<void>(layout::elements({size, size}));
  } catch (const LayoutError& error) {
    throw ArgumentError(fmt::format("--size: {}", error.what()));
  }
  const auto exists = model_of(request.kind).has_size;
  if (size >= 0 && exists(size)) return size;
  Index below = size;  // every kind has sizes beyond any other
  while (below > 0 && !exists(below)) --below;
  Index above = std::max(size, Index{0});
  while (!exists(above)) ++above;
  const auto nearest = below > 0 ? fmt::format("{} and {}", below, above) : fmt::format("{}", above);
  throw ArgumentError(fmt::format("--size is {}, but {} can't have as many sites; the nearest numbers are {}", size,
                                  request.kind, nearest));
}

}  // namespace

Hamiltonian make_hamiltonian(const HamiltonianRequest& request) {
  expect_own_options(request);
  const Index size = asked_size(request);
  Hamiltonian result = model_of(request.kind).make(request, size);
  result.size = size;
  return result;
}

}  // namespace plait::cli
