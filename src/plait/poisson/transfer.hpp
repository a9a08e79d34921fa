#pragma once

#include <array>
#include <optional>
#include <vector>

#include "plait/halo/exchange.hpp"
#include "plait/layout/box.hpp"
#include "plait/poisson/coloured_grid.hpp"
#include "plait/poisson/row_kernels.hpp"

namespace plait::poisson {

/// What goes from a grid to the next coarser one and back: R averages, P interpolates, linearly on each axis that is
/// halved (`Axis`). Where the coarse grid lies elsewhere, its points go by way of where the fine ones are.
///
/// By planes, so that passes over the fine grid take them along. Everything else is collective.
template <class C>
class Transfer {
 public:
  using Grid = ColouredGrid<C>;
  using Field = typename Grid::Field;

  /// The grids outlive this.
  /// \param aligned  of the coarse points, where the fine ones are
  /// \param halves   which axes are halved
  Transfer(mpi::Context& context, Grid& fine, Grid& coarse, const layout::BoxPartition& aligned,
           const std::array<bool, layout::axes>& halves, double unit);

  /// Values of the fine grid, their ghosts filled, to the coarse one, with ghosts.
  void restrict_all(const Field& values, Field& to);

  /// The coarse planes that this rank makes, and the last fine plane that each takes.
  [[nodiscard]] typename Grid::Range planes() const noexcept { return {coarse_box_.low[0], coarse_box_.high[0]}; }
  [[nodiscard]] Index last_plane_of(Index i) const;
  /// \param source  of (i, j, half): that half of a row of the fine grid, or null for zeros
  template <class Source>
  void restrict_plane(Index i, const Source& source, Field& to) {
    const Rows &zero = rows_[0], &one = rows_[1];
    for (Index j = coarse_box_.low[1]; j < coarse_box_.high[1]; ++j) {
      std::array<WeightedRows<C>, 2> rows;
      for (Index s = 0; s < zero.taps; ++s) {
        for (Index t = 0; t < one.taps; ++t) {
          const C weight =
              zero.restriction[at(s)][at(i - coarse_box_.low[0])] * one.restriction[at(t)][at(j - coarse_box_.low[1])];
          if (weight == 0) continue;
          const Index p = zero.is_halved ? 2 * i + s : i, q = one.is_halved ? 2 * j + t : j;
          for (Index half = 0; half < 2; ++half) {
            if (const C* const row = source(p, q, half)) rows[at(half)].add(row, weight);
          }
        }
      }
      restrict_row(rows, i, j, to);
    }
  }
  /// Completes `to` after the last plane.
  void end_restriction(Field& to);

  /// Fills what `interpolate_plane` takes from the coarse u.
  void begin_interpolation(Field& u);
  /// u ← u + P e at the points of one colour of plane i.
  void interpolate_plane(typename Grid::Colour colour, Index i, Index margin, Field& u);

 private:
  struct Interpolation {
    std::array<Index, 2> from;
    std::array<C, 2> weight;
  };
  // How axis 0 or 1 of this rank's points hangs together with the coarse grid.
  struct Rows {
    bool is_halved = false;
    Index taps = 1;
    std::array<std::vector<C>, 3> restriction{};  // by coarse point
    Index first = 0;                              // of those that follow
    std::vector<Interpolation> interpolation{};
  };
  struct Columns {
    bool is_halved = false;
    Index taps = 1;
    std::array<std::vector<C>, 3> restriction{};   // by coarse point
    std::array<std::vector<C>, 2> own{}, other{};  // by half
  };

  void find_rows(std::size_t a, bool is_halved);
  void find_columns(bool is_halved);
  void restrict_row(const std::array<WeightedRows<C>, 2>& rows, Index i, Index j, Field& to);

  Grid& fine_;
  Grid& coarse_;
  TransferKernels<C> kernels_;
  layout::Box coarse_box_;
  std::array<Rows, 2> rows_;
  Columns columns_;
  std::vector<C> row_, sums_;
  const Field* e_ = nullptr;  // that is interpolated

  // The coarse points where the fine ones are, if these are elsewhere.
  struct Aligned {
    Aligned(mpi::Context& context, const Grid& coarse, const layout::BoxPartition& aligned, double unit);

    Grid grid;
    Field down_field, up_field;
    std::optional<halo::Exchange> down, up;
  };
  std::optional<Aligned> aligned_;
};

}  // namespace plait::poisson
