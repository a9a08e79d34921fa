#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/box.hpp"

namespace plait::poisson {

/// Solves A x = b for few points, all on one rank, by factors L U of A as a dense matrix. Diagonals of A are no smaller
/// than what is beside them, so that none is exchanged; and of a row that has zeros only the others count.
///
/// A pivot is what A makes of 1, eliminated along, less what is beside it: where all beside diagonals are below 0 this
/// subtracts nothing, so that x is right to the last digits whatever k jumps by, and pivots are 0 just where constants
/// are free. There x is 0.
///
/// Source: Alfa, Xue, Ye, "Accurate computation of the smallest eigenvalue of a diagonally dominant M-matrix", Math.
/// Comp. 71 (2002).
class Elimination {
 public:
  static constexpr Index most_points = 8192;  // half a GiB

  /// Collective.
  /// \param is_here   whether this rank has the points; spans of others are empty
  /// \param a         out = A in, by differences, so that of constants nothing is left but at sides; collective
  Elimination(Index points, bool is_here,
              const std::function<void(std::span<const double> in, std::span<double> out)>& a);

  /// values ← A⁻¹ values. Local.
  void solve(std::span<double> values) const;

 private:
  struct Range {
    std::size_t first, end;
  };
  std::vector<double> factors_;  // by rows
  std::vector<Range> ranges_;    // of what is not 0 in them
};

/// Grids of fewer points are coarsened no more.
inline constexpr Index most_points_to_eliminate = 32;

/// On the coarsest grid of a hierarchy, which outlives this.
template <class Grid>
class Coarsest {
 public:
  using Field = typename Grid::Field;

  /// Collective.
  explicit Coarsest(Grid& grid) : grid_(grid), values_(at(grid.own().points())) {
    Field u = grid.zeros(), r = grid.zeros();
    const Field b = grid.zeros();
    elimination_.emplace(grid.partition().whole().points(), !values_.empty(),
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
