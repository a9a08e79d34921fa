#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/random.hpp"

#include "cli/generate/hamiltonian_kinds.hpp"

namespace plait::cli {

namespace {

constexpr double usual_gap_of_levels = 0.1;
constexpr double usual_filling = 0.5;
constexpr int reflections = 4;

using Vector = std::vector<double>;

double dot(const Vector& x, const Vector& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

// From 0 to 1, with `gap` above the lowest `occupied`, and equal distances elsewhere.
Vector levels(Index size, Index occupied, double gap) {
  Vector result(static_cast<std::size_t>(size));
  const double distance = (1 - gap) / static_cast<double>(size - 2);
  for (Index i = 0; i < size; ++i) {
    result[static_cast<std::size_t>(i)] =
        i < occupied ? static_cast<double>(i) * distance : 1 - static_cast<double>(size - 1 - i) * distance;
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
    const auto own = static_cast<std::size_t>(i);
    std::ranges::fill(into, 0.0);
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

}  // namespace

Hamiltonian make_prescribed(const HamiltonianRequest& request) {
  const Index size = asked_size(request, [](Index n) { return n >= 3; });
  const double filling = request.filling.value_or(usual_filling);
  const double gap = request.gap.value_or(usual_gap_of_levels);
  const std::uint64_t seed = request.seed.value_or(0);
  if (!(filling > 0 && filling < 1)) {
    throw ArgumentError(fmt::format("--filling is {}, expected a part of the levels, between 0 and 1", filling));
  }
  if (!(gap > 0 && gap <= 1)) {
    throw ArgumentError(fmt::format("--gap is {}, expected more than 0 and at most 1, the width of all levels", gap));
  }
  const Index occupied =
      std::clamp(std::llround(filling * static_cast<double>(size)), 1LL, static_cast<long long>(size - 1));
  Hamiltonian result;
  result.size = size;
  result.electrons = 2 * occupied;
  result.gap = gap;
  result.description = fmt::format("levels from 0 to 1, {} below the gap, seed {}", occupied, seed);
  result.rows = [size, occupied, gap, seed]() -> HamiltonianRow {
    return [matrix = Reflected(levels(size, occupied, gap), seed)](Index i, std::span<double> into) {
      matrix.row(i, into);
    };
  };
  return result;
}

}  // namespace plait::cli
