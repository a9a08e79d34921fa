#pragma once

#include <array>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::poisson {

/// Where unknowns are: in the middle of cells, or at nodes between the sides of the domain, on which there are none.
/// Nodes have values on all sides; on a periodic axis both are the same.
enum class Points : unsigned char { cells, nodes };

enum class Side : unsigned char {
  value,     ///< u is given (Dirichlet)
  flux,      ///< k ∂u/∂n, out of the domain, is given (Neumann)
  periodic,  ///< the opposite side is the next one
};

/// One axis of a grid, on one level: where its points are, the stretch that belongs to each, and how it hangs together
/// with the next coarser level. Coarse cells are pairs of cells, of which the last may be alone; coarse nodes are every
/// other node from the second one on. So extents need not be even, and stretches of coarse levels differ at the end.
class Axis {
 public:
  using Sides = std::array<Side, 2>;

  /// Of a grid of fewer dimensions: one point, and nothing next to it.
  [[nodiscard]] static Axis unused();
  [[nodiscard]] bool is_used() const noexcept { return is_used_; }

  /// \pre  extent >= 1, spacing > 0; periodic on both sides or on none; nodes have no flux
  Axis(Index extent, double spacing, Points points, Sides sides);

  [[nodiscard]] Index extent() const noexcept { return static_cast<Index>(position_.size()); }
  [[nodiscard]] double length() const noexcept { return length_; }
  [[nodiscard]] Sides sides() const noexcept { return sides_; }
  [[nodiscard]] bool is_periodic() const noexcept { return sides_[0] == Side::periodic; }
  [[nodiscard]] double position(Index i) const { return position_[at(i)]; }
  [[nodiscard]] double width(Index i) const { return width_[at(i)]; }
  /// Of the usual stretches.
  [[nodiscard]] double spacing() const noexcept { return spacing_; }

  /// From point i - 1, or the side below, to point i: 0 where the side has a flux, or the point is next to itself, so
  /// that nothing flows. 0 <= i <= extent.
  [[nodiscard]] double distance_below(Index i) const;
  /// How much of that lies on the side of point i - 1, and of point i.
  [[nodiscard]] std::array<double, 2> shares_below(Index i) const;

  /// The same point within the axis; -1 where there is none.
  [[nodiscard]] Index within(Index i) const;
  /// What u below and above a point is multiplied by where k = 1, and 1 / its width, in units of length; 0 beyond
  /// sides.
  struct Weights {
    double below = 0, above = 0, inverse_width = 0;
  };
  [[nodiscard]] Weights weights(Index i, double unit = 1) const;

  [[nodiscard]] bool can_be_halved() const noexcept { return is_used_ && extent() >= (takes_pairs_ ? 2 : 3); }
  [[nodiscard]] Axis halved() const;
  /// Of the point that is coarse point 0: 0 or 1.
  [[nodiscard]] Index first_coarse() const noexcept { return takes_pairs_ ? 0 : 1; }

  /// Coarse value I ← Σ_t weights[t] · fine value 2I + t.
  using Taps = std::array<double, 3>;
  [[nodiscard]] Taps restriction(const Axis& coarse, Index coarse_point) const;
  [[nodiscard]] Index taps() const noexcept { return takes_pairs_ ? 2 : 3; }

  /// Fine value i ← own · coarse value i / 2 + other · coarse value next to it: below for an even i, above for an odd
  /// one. Values beyond sides are 0.
  struct Interpolation {
    double own, other;
  };
  [[nodiscard]] Interpolation interpolation(const Axis& coarse, Index point) const;

 private:
  Axis() = default;

  std::vector<double> position_, width_;
  double length_ = 0, spacing_ = 0;
  Sides sides_{};
  bool takes_pairs_ = true;
  bool is_used_ = true;
};

/// Those of the axes that count whose spacing is near the least one of these: grids that are halved on them come to
/// have the same spacing on all.
[[nodiscard]] std::array<bool, 3> near_least(const std::array<double, 3>& spacing, const std::array<bool, 3>& counts);

}  // namespace plait::poisson
