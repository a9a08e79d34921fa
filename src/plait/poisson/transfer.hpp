#pragma once

#include <algorithm>
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
           const std::array<bool, layout::axes>& halves, double unit)
      : fine_(fine),
        coarse_(coarse),
        halves_(halves),
        coarse_box_(aligned.box(context.rank())),
        row_(at(2 * fine.pitch() + 2 * most_lanes)),
        sums_(2 * row_.size()) {
    for (std::size_t a = 0; a < layout::axes; ++a) taps_[a] = halves[a] ? fine.axes()[a].taps() : 1;
    find_rows(0);
    find_rows(1);
    find_columns();
    if (coarse.partition() != aligned) aligned_.emplace(context, coarse, aligned, unit);
  }

  /// Values of the fine grid, their ghosts filled, to the coarse one, with ghosts.
  void restrict_all(const Field& values, Field& to) {
    const auto source = [&](Index i, Index j, Index half) -> const C* { return fine_.row(values, half, i, j); };
    for (Index i = coarse_box_.low[0]; i < coarse_box_.high[0]; ++i) restrict_plane(i, source, to);
    end_restriction(to);
    coarse_.finish_filling();
  }

  /// The coarse plane where a fine one of this rank is, if there is one.
  [[nodiscard]] std::optional<Index> plane_at(Index fine) const {
    if (!halves_[0]) return fine;
    const Index twice = fine - fine_.axes()[0].first_coarse();
    return twice >= 0 && twice % 2 == 0 ? std::optional(twice / 2) : std::nullopt;
  }
  /// The fine planes that a coarse one takes.
  [[nodiscard]] Range taken_by(Index plane) const {
    const Index low = halves_[0] ? 2 * plane : plane;
    return {low, std::min(low + taps_[0], fine_.axes()[0].extent())};
  }
  /// \param source  of (i, j, half): that half of a row of the fine grid, or null for zeros
  template <class Source>
  void restrict_plane(Index i, const Source& source, Field& to) {
    for (Index j = coarse_box_.low[1]; j < coarse_box_.high[1]; ++j) {
      std::array<WeightedRows<C>, 2> rows;
      for (Index s = 0; s < taps_[0]; ++s) {
        for (Index t = 0; t < taps_[1]; ++t) {
          const C weight =
              restriction_[0][at(s)][at(i - coarse_box_.low[0])] * restriction_[1][at(t)][at(j - coarse_box_.low[1])];
          if (weight == 0) continue;
          for (Index half = 0; half < 2; ++half) {
            const C* const row = source((halves_[0] ? 2 * i : i) + s, (halves_[1] ? 2 * j : j) + t, half);
            if (row != nullptr) rows[at(half)].add(row, weight);
          }
        }
      }
      restrict_row(rows, i, j, to);
    }
  }
  /// Completes `to` after the last plane; its ghosts may still be on their way.
  void end_restriction(Field& to) {
    if (!aligned_) return coarse_.begin_filling(to, 3);
    aligned_->grid.wrap(aligned_->field);
    move(aligned_->down, aligned_->grid.halves(aligned_->field), coarse_.halves(to));
  }

  /// Begins to fill what `interpolate_plane` takes from the coarse u.
  void begin_interpolation(Field& u) {
    e_ = &u;
    if (!aligned_) return coarse_.begin_filling(u, 2);
    coarse_.wrap(u);
    move(aligned_->up, coarse_.halves(u), aligned_->grid.halves(aligned_->field));
    e_ = &aligned_->field;
  }
  /// u ← u + P e at the points of one colour of plane i.
  void interpolate_plane(Colour colour, Index i, Index margin, Field& u) {
    const Range rows = fine_.range(1, margin);
    for (Index j = rows.low; j < rows.high; ++j) {
      const Index half = Grid::half_of(colour, i, j);
      std::array<C*, 2> to{};
      to[at(half)] = fine_.row(u, half, i, j);
      interpolate_row(i, j, to);
    }
  }
  /// The same for those halves of a row that are not null.
  void interpolate_row(Index i, Index j, const std::array<C*, 2>& to) {
    const Grid& source = at_fine_points();
    const Interpolation &zero = interpolation_[0][at(i - first_[0])], &one = interpolation_[1][at(j - first_[1])];
    constexpr Index before = 1;  // columns of coarse ghosts, in halves
    std::array<WeightedRows<C>, 2> from;
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t t = 0; t < 2; ++t) {
        const C weight = zero.weight[s] * one.weight[t];
        if (weight == 0) continue;
        for (Index half = 0; half < 2; ++half) {
          from[at(half)].add(source.row(*e_, half, zero.from[s], one.from[t]) - before, weight);
        }
      }
    }
    const Index count = source.half_length() + 2 * before;
    C *const even = row_.data(), *const odd = even + row_.size() / 2;
    kernels_.sum(from[0], count, even);
    kernels_.sum(from[1], count, odd);
    // Coarse values by the fine points of either half: those at X, and those next to these.
    std::array<const C*, 2> own{even + before, odd + before}, other = own;
    if (halves_[2]) {
      kernels_.join(even, odd, count, sums_.data());
      own.fill(sums_.data() + 2 * before);
      other = {own[0] - 1, own[1] + 1};
    }
    for (std::size_t h = 0; h < 2; ++h) {
      if (to[h] == nullptr) continue;
      kernels_.interpolate(own_[h].data(), other_[h].data(), own[h], other[h], fine_.half_length(), to[h]);
    }
    fine_.for_each_wrapped([&](Index half, Index x, Index same_half, Index same_x) {
      if (to[at(half)] == nullptr) return;
      const std::size_t h = at(same_half), place = at(same_x);
      to[at(half)][x] += own_[h][place] * own[h][same_x] + other_[h][place] * other[h][same_x];
    });
  }

 private:
  struct Interpolation {
    std::array<Index, 2> from;
    std::array<C, 2> weight;
  };
  // The coarse points where the fine ones are, if the coarse grid lies elsewhere.
  struct Aligned {
    Aligned(mpi::Context& context, const Grid& coarse, const layout::BoxPartition& aligned, double unit)
        : grid(context, coarse.axes(), aligned, unit),
          field(grid.zeros()),
          down(context, moving(grid, coarse, 3), Index{sizeof(C)}, 2, "coarse grid"),
          up(context, moving(coarse, grid, 2), Index{sizeof(C)}, 2, "coarse grid") {}

    [[nodiscard]] static halo::Filling moving(const Grid& from, const Grid& to, Index width) {
      return {from.of_rows(),    to.of_rows(),           from.ghost_layers(),
              to.ghost_layers(), to.ghost_layers(width), to.periodic_rows()};
    }

    Grid grid;
    Field field;
    halo::Exchange down, up;
  };

  static void move(halo::Exchange& exchange, const std::array<C*, 2>& from, const std::array<C*, 2>& to) {
    exchange(std::array{halo::Field{from[0], to[0]}, halo::Field{from[1], to[1]}});
  }
  [[nodiscard]] Grid& at_fine_points() { return aligned_ ? aligned_->grid : coarse_; }

  void find_rows(std::size_t a) {
    const Axis &fine = fine_.axes()[a], &coarse = coarse_.axes()[a];
    for (Index i = coarse_box_.low[a]; i < coarse_box_.high[a]; ++i) {
      const Axis::Taps taps = halves_[a] ? fine.restriction(coarse, i) : Axis::Taps{1, 0, 0};
      for (std::size_t t = 0; t < 3; ++t) restriction_[a][t].push_back(static_cast<C>(taps[t]));
    }
    const Range range = fine_.range(a, 2);
    first_[a] = range.low;
    for (Index i = range.low; i < range.high; ++i) {
      if (!halves_[a]) {
        interpolation_[a].push_back({{i, i}, {1, 0}});
        continue;
      }
      // Round a periodic axis the coarse points come again as well.
      const Index n = fine.extent(), inside = fine.is_periodic() ? (i % n + n) % n : i;
      const auto [own, other] = fine.interpolation(coarse, inside);
      const Index from = inside / 2 + (i - inside) / n * coarse.extent();
      interpolation_[a].push_back(
          {{from, inside % 2 == 1 ? from + 1 : from - 1}, {static_cast<C>(own), static_cast<C>(other)}});
    }
  }

  void find_columns() {
    const Axis &fine = fine_.axes()[2], &coarse = coarse_.axes()[2];
    const std::vector<C> none(at(fine.extent() + 2 * most_lanes));
    restriction_[2].fill(none);
    own_.fill(none);
    other_.fill(none);
    for (Index x = 0; halves_[2] && x < coarse.extent(); ++x) {
      const Axis::Taps taps = fine.restriction(coarse, x);
      for (std::size_t t = 0; t < 3; ++t) restriction_[2][t][at(x)] = static_cast<C>(taps[t]);
    }
    for (Index x = 0; x < fine.extent(); ++x) {
      const auto [own, other] = halves_[2] ? fine.interpolation(coarse, x) : Axis::Interpolation{1, 0};
      own_[at(x % 2)][at(x / 2)] = static_cast<C>(own);
      other_[at(x % 2)][at(x / 2)] = static_cast<C>(other);
    }
  }

  void restrict_row(const std::array<WeightedRows<C>, 2>& rows, Index i, Index j, Field& to) {
    const Grid& target = at_fine_points();
    Field& field = aligned_ ? aligned_->field : to;
    C *const even = target.row(field, 0, i, j), *const odd = target.row(field, 1, i, j);
    if (!halves_[2]) {
      kernels_.sum(rows[0], target.half_length(), even);
      kernels_.sum(rows[1], target.half_length(), odd);
      return;
    }
    const auto& [t0, t1, t2] = restriction_[2];
    kernels_.restrict_row(rows[0], rows[1], {t0.data(), t1.data(), taps_[2] == 3 ? t2.data() : nullptr},
                          target.columns(), even, odd);
  }

  Grid& fine_;
  Grid& coarse_;
  const RowKernels<C>& kernels_ = row_kernels<C>();
  std::array<bool, layout::axes> halves_;
  layout::Point taps_{};
  layout::Box coarse_box_;
  std::array<std::array<std::vector<C>, 3>, layout::axes> restriction_;  // by tap and coarse point
  std::array<Index, 2> first_{};                                         // of those that follow
  std::array<std::vector<Interpolation>, 2> interpolation_;
  std::array<std::vector<C>, 2> own_, other_;  // what columns are interpolated by, by half
  std::vector<C> row_, sums_;
  const Field* e_ = nullptr;  // that is interpolated
  std::optional<Aligned> aligned_;
};

}  // namespace plait::poisson
