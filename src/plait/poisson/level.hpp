#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/axis.hpp"
#include "plait/poisson/row_kernels.hpp"

namespace plait::poisson {

using Axes = std::array<Axis, layout::axes>;

[[nodiscard]] inline std::array<bool, layout::axes> periodic(const Axes& axes) {
  return {axes[0].is_periodic(), axes[1].is_periodic(), axes[2].is_periodic()};
}

/// The values of a rank's box with ghost layers on the axes that are used, and 0 beyond sides.
using Values = AlignedVector<double>;

/// Calls f(axis, 0: below or 1: above, the next point there, the face between) for all that are around a point. A face
/// has the number of the point above it.
template <class F>
void for_each_next(const layout::Point& point, const F& f) {
  for (std::size_t a = 0; a < layout::axes; ++a) {
    for (const std::size_t side : {0U, 1U}) {
      layout::Point next = point, face = point;
      next[a] += side == 0 ? -1 : 1;
      face[a] += static_cast<Index>(side);
      f(a, side, next, face);
    }
  }
}

/// The largest size of values; 0 where there are none.
[[nodiscard]] double largest(std::span<const double> values);

/// The equation on one grid, and this rank's part of it:
///
///     (A u)_p = Σ_axes 1/width_p · (c_p (u_p - u_below) + c_above (u_p - u_above)),   c = k / distance
///
/// with k at the faces between points: of two values, the one that makes the flux continuous (harmonic mean). u is 0
/// beyond sides of value; there is no c at sides of flux. Points are red where the sum of their indices is even.
class Level {
 public:
  /// Collective over the context.
  /// \param width  of ghost layers: values of others can be computed in all but the outermost one
  Level(mpi::Context& context, const Axes& axes, layout::BoxPartition partition, Index width = 1);

  [[nodiscard]] const Axes& axes() const noexcept { return axes_; }
  [[nodiscard]] const layout::BoxPartition& partition() const noexcept { return partition_; }
  [[nodiscard]] const layout::Point& layers() const noexcept { return layers_; }
  [[nodiscard]] const layout::Box& own() const noexcept { return own_; }
  /// So many of the layers.
  [[nodiscard]] halo::Filling ghosts(Index width, halo::Reach reach) const;
  [[nodiscard]] Values zeros() const { return Values(at(memory_.points()) + slack); }
  /// The same with this rank's points, the last axis contiguous; each element is written once.
  [[nodiscard]] Values values(std::span<const double> own) const;

  /// k at the points; its ghost layers are filled. Without: k = 1. Collective.
  /// \param inside    1, or 0 at points that are outside the domain: nothing flows there, and residuals are 0. All are
  ///                  inside where it is empty
  /// \param is_given  u is given at the points outside, so that A takes it for 0, but not the flow there
  void set_coefficient(Values k, Values inside = {}, bool is_given = false);
  /// k at the faces below points; what is no face, or is one next to a point outside where nothing flows, counts for
  /// nothing. Likewise, but for the ghosts of k, which are filled already.
  void set_coefficient(const std::array<Values, layout::axes>& k, Values inside = {}, bool is_given = false);
  /// Of the points; empty where it is given by face.
  [[nodiscard]] const std::optional<Values>& coefficient() const noexcept { return k_; }
  [[nodiscard]] bool k_varies() const noexcept { return k_varies_; }
  /// 1 / diagonal, or 0; in this rank's points and as many layers as are computed.
  [[nodiscard]] const Values& inverse_diagonal();
  /// From now on the size of residuals is that of D⁻¹ (b - A u), D the diagonal: how far u is off from what neighbours
  /// say.
  void weigh_residuals();
  [[nodiscard]] bool weighs() const noexcept { return weighs_; }
  /// What a row of this rank, as a residual, counts with in its size; until the next call.
  [[nodiscard]] std::span<const double> weighted(const double* row, Index offset);
  [[nodiscard]] bool has_outside() const noexcept { return !inside_.empty(); }
  [[nodiscard]] bool is_outside_given() const noexcept { return is_outside_given_; }
  /// \pre  a point of this rank or one next to it
  [[nodiscard]] bool is_inside(const layout::Point& point) const {
    return inside_.empty() || inside_[at(offset_of(point))] > 0;
  }
  /// Whether there is a face below a point, or above the last one, across which u flows for some k.
  /// \pre  as `conductance`
  [[nodiscard]] bool flows(std::size_t axis, const layout::Point& point) const;
  /// c between a point of this rank and the one below it, or the side, on an axis; `point` may be one above the box.
  [[nodiscard]] double conductance(std::size_t axis, const layout::Point& point) const;

  /// Of all points. Collective over a context of the same ranks.
  [[nodiscard]] double largest_of(mpi::Context& context, const Values& values) const;
  /// Ghost layers from other ranks: of faces one. Collective.
  void exchange(Values& values, halo::Reach reach = halo::Reach::faces);

  /// u ← u + omega · (b - A u) / diagonal at red and then at black points. Collective.
  void sweep(double omega, Values& u, const Values& b);
  /// r ← b - A u, also in `margin` ghost layers.
  /// \pre  `margin` + 1 ghost layers of u are filled, with corners where it is not 0, and `margin` of b
  void residual(const Values& u, const Values& b, Values& r, Index margin = 0) const;
  /// The same for some points of a row, from `first` on, where `b` has the first one; up to `most_lanes` - 1 elements
  /// more are written.
  void residual(const Values& u, const double* b, const layout::Point& first, Index count, double* r) const;
  /// out ← A in, of this rank's points alone, by way of u, whose ghosts beyond sides are 0. Collective.
  void multiply(std::span<const double> in, Values& u, std::span<double> out);
  /// Calls f(offset of a point, r / diagonal there), also in `margin` ghost layers.
  template <class F>
  void for_each_scaled(const Values& r, Index margin, const F& f) {
    const double* const inverse = inverse_diagonal().data();
    const layout::Box box = reach(margin);
    for_each_row_of(box, [&](Index offset, Index, Index) {
      for (Index p = offset; p < offset + box.extent(2); ++p) f(p, inverse[p] * r[at(p)]);
    });
  }

  /// Between such values and this rank's points alone, the last axis contiguous.
  void copy_in(std::span<const double> own, Values& values) const;
  void copy_out(const Values& values, std::span<double> own) const;
  [[nodiscard]] std::vector<double> own_values(const Values& values) const;

  /// Calls f(offset of the first point of a row of this rank, number of the row on axis 0, on axis 1).
  template <class F>
  void for_each_row(const F& f) const {
    for_each_row_of(own_, f);
  }
  /// Calls f(offset of a point of this rank, the point).
  template <class F>
  void for_each_point(const F& f) const {
    layout::for_each_point(own_, [&](const layout::Point& point) { f(at(offset_of(point)), point); });
  }
  /// A point's stretch, in usual ones.
  [[nodiscard]] double stretch(const layout::Point& point) const;
  [[nodiscard]] Index row_length() const noexcept { return own_.extent(2); }
  [[nodiscard]] Index offset_of(const layout::Point& point) const noexcept { return memory_.offset_of(point); }

 private:
  static constexpr std::size_t slack = most_lanes;

  // `Axis::Weights` by point.
  struct Weights {
    std::vector<double> below, above, both, inverse_width;
  };

  template <class F>
  void for_each_row_of(const layout::Box& box, const F& f) const {
    layout::for_each_row(box, [&](const layout::Point& first) { f(memory_.offset_of(first), first[0], first[1]); });
  }
  /// Of a row's points from the first one on.
  [[nodiscard]] RowStencil<double> stencil(const Values& u, const double* b, const layout::Point& first) const;
  void set_domain(Values inside, bool is_given);
  /// By `f`(axis, offset of the first face of a row, from a point to the one above, shares of distances below and above
  /// by face, and by row, count, c).
  template <class F>
  void set_conductances(const F& f);
  /// This rank's points, and so many layers of what is beyond, but for what is beyond sides.
  [[nodiscard]] layout::Box reach(Index margin) const;
  /// Where a point's weights are.
  [[nodiscard]] std::size_t place(std::size_t a, Index i) const { return at(i - own_.low[a] + width_ - 1); }

  Axes axes_;
  layout::BoxPartition partition_;
  Index width_;
  layout::Point layers_;
  layout::Box own_, memory_;
  Index plane_, pitch_;  // from a point to the next one on axes 0 and 1; 0 where they are not used
  std::array<Weights, layout::axes> weights_;  // by point of this rank, and as many layers as are computed
  std::optional<Values> k_;
  Values inside_;
  bool k_varies_ = false, is_outside_given_ = false, weighs_ = false;
  std::array<Values, layout::axes> conductances_;   // below points, where k varies
  Values inverse_diagonal_;                         // or 0; empty until it is wanted
  std::vector<double> added_, weighted_, nothing_;  // to a row; of one; zeros for one
  std::array<std::vector<double>, 2> masks_;        // 1 and 0 in turn
  halo::Exchange faces_, corners_;
  StencilKernels<double> kernels_;
};

}  // namespace plait::poisson
