#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/iterate/stagnation.hpp"
#include "plait/layout/box.hpp"

namespace plait::poisson {

/// Solves A x = b for few points, all on one rank, by factors L U of A as a dense matrix. Diagonals of A are no smaller
/// than what is beside them, so that none is exchanged; and of a column that has zeros only the others count.
class Elimination {
 public:
  static constexpr Index most_points = 8192;  // half a GiB

  /// Collective.
  /// \param is_here   whether this rank has the points; spans of others are empty
  /// \param is_free   constants change nothing: the last pivot is 0, and so is x there
  /// \param roundoff  of the numbers of `a`: pivots of as little belong to constants on parts; 0: there are none
  /// \param a         out = A in; collective
  Elimination(Index points, bool is_here, bool is_free, double roundoff,
              const std::function<void(std::span<const double> in, std::span<double> out)>& a);

  /// values ← A⁻¹ values. Local.
  void solve(std::span<double> values) const;

 private:
  std::vector<double> factors_;    // by columns
  std::vector<std::size_t> ends_;  // of what is not 0 in them
};

/// On the coarsest grid of a hierarchy, which outlives this.
template <class Grid>
class Coarsest {
 public:
  using Field = typename Grid::Field;

  /// Collective.
  Coarsest(Grid& grid, bool is_free) : grid_(grid), values_(at(grid.own().points())) {
    Field u = grid.zeros(), r = grid.zeros();
    const Field b = grid.zeros();
    elimination_.emplace(grid.partition().whole().points(), !values_.empty(), is_free,
                         iterate::roundoff_of<typename Grid::Number>(),
                         [&](std::span<const double> in, std::span<double> out) { multiply(in, out, u, b, r); });
  }

  /// Does nothing on ranks that have no points.
  void solve(const Field& b, Field& u) {
    for_each_value(b, [&](const auto& value, double& known) { known = static_cast<double>(value); });
    elimination_->solve(values_);
    for_each_value(u, [](auto& value, double known) { value = static_cast<typename Grid::Number>(known); });
  }

 private:
  template <class AnyField, class F>
  void for_each_value(AnyField& field, const F& f) {
    auto next = values_.begin();
    layout::for_each_point(grid_.own(), [&](const layout::Point& point) { f(grid_.value(field, point), *next++); });
  }

  void multiply(std::span<const double> in, std::span<double> out, Field& u, const Field& b, Field& r) {
    std::ranges::copy(in, values_.begin());
    for_each_value(u, [](auto& value, double known) { value = static_cast<typename Grid::Number>(known); });
    grid_.fill_ghosts(u, 1);
    grid_.residual(u, b, r);
    for_each_value(r, [](const auto& value, double& known) { known = -static_cast<double>(value); });
    std::ranges::copy(values_, out.begin());
  }

  Grid& grid_;
  std::vector<double> values_;
  std::optional<Elimination> elimination_;
};

}  // namespace plait::poisson
