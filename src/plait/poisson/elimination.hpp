#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
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

/// Grids of fewer points are coarsened no more.
inline constexpr Index most_points_to_eliminate = 32;

/// On the coarsest grid of a hierarchy, which outlives this.
template <class Grid>
class Coarsest {
 public:
  using Field = typename Grid::Field;

  /// Collective.
  Coarsest(Grid& grid, bool is_free) : grid_(grid), values_(at(grid.own().points())) {
    Field u = grid.zeros(), r = grid.zeros();
    const Field b = grid.zeros();
    elimination_.emplace(grid.partition().whole().points(), !values_.empty(), is_free, iterate::roundoff_of<Number>(),
                         [&](std::span<const double> in, std::span<double> out) {
                           std::ranges::copy(in, values_.begin());
                           copy_to(u);
                           grid_.fill_ghosts(u);
                           grid_.residual(u, b, r);
                           copy_from(r);
                           std::ranges::transform(values_, out.begin(), std::negate<>());
                         });
  }

  /// Fields lie in memory as those of the grid. Does nothing on ranks that have no points.
  template <class AnyField>
  void solve(const AnyField& b, AnyField& u) {
    copy_from(b);
    elimination_->solve(values_);
    copy_to(u);
  }

 private:
  using Number = std::remove_cvref_t<decltype(std::declval<Field&>()[0])>;

  template <class AnyField>
  void copy_from(const AnyField& field) {
    auto next = values_.begin();
    layout::for_each_point(
        grid_.own(), [&](const layout::Point& point) { *next++ = static_cast<double>(grid_.value(field, point)); });
  }
  template <class AnyField>
  void copy_to(AnyField& field) {
    auto next = values_.begin();
    layout::for_each_point(grid_.own(), [&](const layout::Point& point) {
      auto& value = grid_.value(field, point);
      value = static_cast<std::remove_reference_t<decltype(value)>>(*next++);
    });
  }

  Grid& grid_;
  std::vector<double> values_;
  std::optional<Elimination> elimination_;
};

}  // namespace plait::poisson
