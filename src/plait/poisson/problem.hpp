#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/alike.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/axis.hpp"
#include "plait/poisson/level.hpp"

namespace plait::poisson {

/// Of one to three dimensions, slowest first. Cells fill the domain; the first node is one spacing from the side below.
struct Grid {
  std::vector<Index> extents;
  std::vector<double> spacing;  ///< one for each dimension
  Points points = Points::cells;
  std::vector<Axis::Sides> sides{};  ///< likewise; none: u is given on all

  [[nodiscard]] layout::Box box() const { return layout::Box::of(extents); }
};

/// What is given on a side, below (0) or above (1) on an axis of the grid, at a place: u, or k ∂u/∂n out of the domain.
using Boundary = std::function<double(int axis, int side, std::span<const double> place)>;

/// k of a rank, by its points in their order; or by its faces, one list for each dimension of the grid, of the faces
/// that `faces_of` gives it. Empty: k is 1.
class Coefficient {
 public:
  Coefficient() = default;
  template <class Range>
    requires std::convertible_to<const Range&, std::span<const double>>
  Coefficient(const Range& values) : points(values) {}  // NOLINT(google-explicit-constructor)
  explicit Coefficient(std::vector<std::span<const double>> values) : faces(std::move(values)) {}

  std::span<const double> points{};
  std::vector<std::span<const double>> faces{};
};

/// Whether a k has products of which there are squares.
[[nodiscard]] inline bool is_in_range(double k) { return k >= 1e-100 && k <= 1e100; }

/// Who has which faces across an axis: each is that below a point, and whoever has the last points has also that above
/// them. Round a periodic axis this is the first one, so that there are as many as points. On nodes a face is what lies
/// between two of them, or between one and a side.
[[nodiscard]] layout::BoxPartition faces_of(const Axes& axes, const layout::BoxPartition& partition, std::size_t axis);

/// Points of the grid that are no part of the domain.
struct Outside {
  std::vector<bool> points = {};  ///< by this rank's points, as k is; empty: none
  /// What holds next to them: nothing flows, or u is what `start` has at these points.
  Side side = Side::flux;
};

/// The axes of a grid. Collective over the context.
/// \throws ArgumentError  on all ranks: a grid that there can't be
[[nodiscard]] Axes axes_of(mpi::Context& context, const Grid& grid);

/// The largest ratio of k at two neighbouring points, but for those where it is 0, or at two faces of a rank that are
/// opposite each other at a point; 1 where k is empty. The same on all ranks. Collective.
[[nodiscard]] double largest_jump(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition,
                                  const Coefficient& k);

/// Whether constants change nothing, as u is given on no side.
[[nodiscard]] bool is_singular(const Axes& axes);

/// The box of all points.
[[nodiscard]] layout::Box box_of(const Axes& axes);

/// The first one that is used.
[[nodiscard]] std::size_t first_axis(const Axes& axes);

/// Of those that are used.
[[nodiscard]] double least_spacing(const Axes& axes);

[[nodiscard]] inline std::array<bool, layout::axes> can_be_halved(const Axes& axes) {
  return {axes[0].can_be_halved(), axes[1].can_be_halved(), axes[2].can_be_halved()};
}

/// A grid of which some axes are halved, and how its points lie among the fine ones.
struct Coarser {
  Coarser(const Axes& fine, const std::array<bool, layout::axes>& halves);

  Axes axes;
  layout::Coarsening how;
};

/// A box of which no rank cuts the last axis: by at most so many parts, none shorter than `least_length` where an axis
/// is cut, so that the largest one has fewest rows with a layer around it.
[[nodiscard]] layout::BoxPartition partition_of_rows(const layout::Box& whole, int ranks, Index most_parts,
                                                     Index least_length);

/// Whether a partition is such a one.
[[nodiscard]] bool has_rows(const layout::BoxPartition& partition, Index least_length);

/// Where a coarse grid lies: at its fine points, or, where that is none of these or has more parts than are wanted, on
/// fewer ranks.
[[nodiscard]] layout::BoxPartition coarse_partition(const layout::BoxPartition& aligned, Index most_parts,
                                                    Index least_length);

/// A problem as it is given, each rank the values of its points.
struct Given {
  const Axes& axes;
  const layout::BoxPartition& partition;
  const Coefficient& k;  ///< 1 where it is empty
  std::span<const double> f;
  std::span<const double> start;  ///< of the iteration, and what u is outside; 0 where it is empty
  const Boundary& boundary;
  const Outside& outside;
};

/// Looks at what a rank is given, and adds to `arguments` what all ranks have to give alike.
/// \throws ArgumentError  lengths that do not fit the partition, k that is not above 0, numbers that are not finite
void expect_values(const mpi::Context& context, const Given& given, mpi::Alike& arguments);

}  // namespace plait::poisson
