#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/memory.hpp"
#include "plait/halo/exchange.hpp"
#include "plait/layout/box.hpp"
#include "plait/mpi/context.hpp"
#include "plait/poisson/level.hpp"
#include "plait/poisson/row_kernels.hpp"

namespace plait::poisson {

/// The equation of `Level` on one grid as multigrid wants it: points of even and of odd index on the last axis lie
/// apart, so that those of one colour are contiguous, and no rank cuts the last axis. Axis 1 is used in three
/// dimensions only.
///
/// Where other ranks or the opposite side come next there are layers of ghosts, on which ranks compute what their
/// neighbours do: each sweep over a colour makes one layer less of them right. So one exchange serves a whole pass.
template <class C>
class ColouredGrid {
 public:
  static constexpr Index layers = 4;
  /// The values of points 2X and 2X + 1 of a row are at X of its halves 0 and 1.
  using Field = Array<C>;
  using Number = C;
  enum Colour : unsigned char { red, black };
  struct Range {
    Index low, high;
  };

  /// \param unit  of lengths
  /// \pre  has_rows(partition, layers)
  ColouredGrid(mpi::Context& context, const Axes& axes, layout::BoxPartition partition, double unit);

  [[nodiscard]] const Axes& axes() const noexcept { return axes_; }
  [[nodiscard]] const layout::BoxPartition& partition() const noexcept { return partition_; }
  [[nodiscard]] const layout::Box& own() const noexcept { return own_; }
  [[nodiscard]] Index columns() const noexcept { return axes_[2].extent(); }
  /// X < half_length() has all points of a row.
  [[nodiscard]] Index half_length() const noexcept { return (columns() + 1) / 2; }
  [[nodiscard]] Index pitch() const noexcept { return pitch_; }

  [[nodiscard]] Field zeros() const;
  /// X = 0 of one half of a row.
  [[nodiscard]] C* row(const Field& field, Index half, Index i, Index j) const noexcept {
    return field.data() + half * half_size_ + ((i - low_[0]) * rows_[1] + j - low_[1]) * pitch_ + pad;
  }
  [[nodiscard]] C& value(const Field& field, const layout::Point& point) const noexcept {
    return row(field, point[2] & 1, point[0], point[1])[point[2] >> 1];
  }
  /// A row's half that has the points of a colour.
  [[nodiscard]] static Index half_of(Colour colour, Index i, Index j) noexcept { return (i + j + colour) & 1; }
  /// The points of this rank on axis 0 or 1, and so many layers of ghosts, where there are any.
  [[nodiscard]] Range range(std::size_t axis, Index margin) const;
  /// As `Filling` wants it.
  [[nodiscard]] static layout::BoxPartition of_rows(const layout::BoxPartition& partition, Index pitch);
  [[nodiscard]] layout::Point ghost_layers(Index most) const;
  [[nodiscard]] std::array<halo::Field, 2> halves(const Field& from, const Field& to) const;

  /// Collective.
  void fill_ghosts(Field& field, Index width);
  /// Columns beyond periodic sides. Calls f(half, X, half and X of the same point) for each.
  template <class F>
  void for_each_wrapped(const F& f) const {
    const Index n = columns();
    if (!axes_[2].is_periodic()) return;
    for (const Index begin : {-layers, n}) {
      for (Index x = begin; x < begin + layers; ++x) {
        const Index inside = (x % n + n) % n;
        f(x & 1, x >> 1, inside & 1, inside >> 1);
      }
    }
  }
  void wrap(Field& field) const;

  /// Its ghosts are filled. Collective.
  void set_coefficient(Field k);
  [[nodiscard]] const Field& coefficient() const noexcept { return k_; }

  /// Solves the equations of one colour in plane i.
  void relax(Colour colour, Index i, Index margin, Field& u, const Field& b, bool is_zero = false);
  /// b - A u at the points of one colour of plane i, to rows a pitch apart from that of `range(1, 1).low` on.
  void residual(Colour colour, Index i, const Field& u, const Field& b, C* even, C* odd);
  /// The same at all points.
  void residual(const Field& u, const Field& b, Field& r);

 private:
  static constexpr Index pad = most_lanes;

  // By half and X, from -pad on; 0 where there are no points.
  using Columns = std::array<std::vector<C>, 2>;
  struct InverseRow {
    C others;
    Columns inverse;
  };

  [[nodiscard]] RowStencil<C> stencil(Colour colour, Index i, Index j, const Field& u, const Field& b);
  template <class F>
  void for_each_run(Colour colour, Index i, const Range& rows, const Field& u, const Field& b, const F& f);
  [[nodiscard]] const C* inverse_row(C others, Index half);

  mpi::Context& context_;
  Axes axes_;
  layout::BoxPartition partition_;
  double unit_;
  layout::Box own_;
  layout::Point ghosts_{};  // layers of memory on axes 0 and 1
  layout::Point low_{}, rows_{};
  Index pitch_ = 0, half_size_ = 0, first_ = 0, count_ = 0;
  // What u is multiplied by where k = 1, and 1 / widths, by row from low_ on; and by column.
  struct Weights {
    std::vector<C> below, above, both, inverse_width;
  };
  std::array<Weights, 2> weights_;
  Columns left_, right_, both_, inverse_width_;
  std::deque<InverseRow> inverse_rows_;
  std::vector<C> none_;
  Field k_;
  std::array<Field, layout::axes> c_;
  StencilKernels<C> kernels_;
  std::array<std::unique_ptr<halo::Exchange>, layers + 1> exchanges_;
};

}  // namespace plait::poisson
