#include "plait/poisson/transfer.hpp"

#include <algorithm>

namespace plait::poisson {

template <class C>
Transfer<C>::Transfer(mpi::Context& context, Grid& fine, Grid& coarse, const layout::BoxPartition& aligned,
                      const std::array<bool, layout::axes>& halves, double unit)
    : fine_(fine), coarse_(coarse), kernels_(transfer_kernels<C>()), coarse_box_(aligned.box(context.rank())) {
  find_rows(0, halves[0]);
  find_rows(1, halves[1]);
  find_columns(halves[2]);
  const auto length = at(2 * fine.pitch() + 2 * most_lanes);
  row_.resize(length);
  sums_.resize(2 * length);
  if (coarse.partition() != aligned) aligned_.emplace(context, coarse, aligned, unit);
}

template <class C>
Transfer<C>::Aligned::Aligned(mpi::Context& context, const Grid& coarse, const layout::BoxPartition& aligned,
                              double unit)
    : grid(context, coarse.axes(), aligned, unit), down_field(grid.zeros()), up_field(grid.zeros()) {
  const Axes& axes = coarse.axes();
  const Index pitch = coarse.pitch();
  const auto here = Grid::of_rows(aligned, pitch), there = Grid::of_rows(coarse.partition(), pitch);
  const std::array periodic{axes[0].is_periodic(), axes[1].is_periodic(), false};
  const layout::Point at_here = grid.ghost_layers(Grid::layers), at_there = coarse.ghost_layers(Grid::layers);
  const Index bytes = sizeof(C);
  down.emplace(context, halo::Filling{here, there, at_here, at_there, coarse.ghost_layers(3), periodic}, bytes, 2,
               "coarse grid");
  up.emplace(context, halo::Filling{there, here, at_there, at_here, grid.ghost_layers(2), periodic}, bytes, 2,
             "coarse grid");
}

template <class C>
void Transfer<C>::find_columns(bool is_halved) {
  const Axis &fine = fine_.axes()[2], &coarse = coarse_.axes()[2];
  columns_.is_halved = is_halved;
  columns_.taps = is_halved ? fine.taps() : 1;
  const auto length = at(std::max<Index>(fine.extent(), 1) + 2 * most_lanes);
  for (std::vector<C>& taps : columns_.restriction) taps.assign(length, C{});
  for (std::size_t half = 0; half < 2; ++half) {
    columns_.own[half].assign(length, C{});
    columns_.other[half].assign(length, C{});
  }
  for (Index x = 0; is_halved && x < coarse.extent(); ++x) {
    const Axis::Taps taps = fine.restriction(coarse, x);
    for (std::size_t t = 0; t < 3; ++t) columns_.restriction[t][at(x)] = static_cast<C>(taps[t]);
  }
  for (Index x = 0; x < fine.extent(); ++x) {
    const auto [own, other] = is_halved ? fine.interpolation(coarse, x) : Axis::Interpolation{1, 0};
    columns_.own[at(x % 2)][at(x / 2)] = static_cast<C>(own);
    columns_.other[at(x % 2)][at(x / 2)] = static_cast<C>(other);
  }
}

template <class C>
void Transfer<C>::find_rows(std::size_t a, bool is_halved) {
  const Axis &fine = fine_.axes()[a], &coarse = coarse_.axes()[a];
  Rows& rows = rows_[a];
  rows.is_halved = is_halved;
  rows.taps = is_halved ? fine.taps() : 1;
  for (Index i = coarse_box_.low[a]; i < coarse_box_.high[a]; ++i) {
    const Axis::Taps taps = is_halved ? fine.restriction(coarse, i) : Axis::Taps{1, 0, 0};
    for (std::size_t t = 0; t < 3; ++t) rows.restriction[t].push_back(static_cast<C>(taps[t]));
  }
  const auto range = fine_.range(a, 2);
  rows.first = range.low;
  for (Index i = range.low; i < range.high; ++i) {
    if (!is_halved) {
      rows.interpolation.push_back({{i, i}, {1, 0}});
      continue;
    }
    // Round a periodic axis the coarse points come again as well.
    const Index n = fine.extent(), inside = fine.is_periodic() ? (i % n + n) % n : i;
    const auto [own, other] = fine.interpolation(coarse, inside);
    const Index from = inside / 2 + (i - inside) / n * coarse.extent();
    rows.interpolation.push_back(
        {{from, inside % 2 == 1 ? from + 1 : from - 1}, {static_cast<C>(own), static_cast<C>(other)}});
  }
}

template <class C>
Index Transfer<C>::last_plane_of(Index i) const {
  return rows_[0].is_halved ? std::min(2 * i + rows_[0].taps, fine_.axes()[0].extent()) - 1 : i;
}

template <class C>
void Transfer<C>::restrict_all(const Field& values, Field& to) {
  const auto source = [&](Index i, Index j, Index half) -> const C* { return fine_.row(values, half, i, j); };
  for (Index i = planes().low; i < planes().high; ++i) restrict_plane(i, source, to);
  end_restriction(to);
}

template <class C>
void Transfer<C>::restrict_row(const std::array<WeightedRows<C>, 2>& rows, Index i, Index j, Field& to) {
  const Grid& target = aligned_ ? aligned_->grid : coarse_;
  Field& field = aligned_ ? aligned_->down_field : to;
  if (!columns_.is_halved) {
    for (Index half = 0; half < 2; ++half) {
      kernels_.sum(rows[at(half)], target.half_length(), target.row(field, half, i, j));
    }
    return;
  }
  const Index n = target.columns();
  const auto& [t0, t1, t2] = columns_.restriction;
  kernels_.restrict_row(rows[0], rows[1], {t0.data(), t1.data(), columns_.taps == 3 ? t2.data() : nullptr}, n,
                        row_.data());
  std::fill_n(row_.begin() + n, 2 * most_lanes, C{});
  kernels_.split(row_.data(), target.half_length(), target.row(field, 0, i, j), target.row(field, 1, i, j));
}

template <class C>
void Transfer<C>::end_restriction(Field& to) {
  if (!aligned_) return coarse_.fill_ghosts(to, 3);
  const std::array from = aligned_->grid.halves(aligned_->down_field, aligned_->down_field),
                   target = coarse_.halves(to, to);
  const std::array fields{halo::Field{from[0].source, target[0].target}, halo::Field{from[1].source, target[1].target}};
  (*aligned_->down)(fields);
  coarse_.wrap(to);
}

template <class C>
void Transfer<C>::begin_interpolation(Field& u) {
  if (!aligned_) {
    coarse_.fill_ghosts(u, 2);
    e_ = &u;
    return;
  }
  Field& here = aligned_->up_field;
  const std::array from = coarse_.halves(u, u), target = aligned_->grid.halves(here, here);
  const std::array fields{halo::Field{from[0].source, target[0].target}, halo::Field{from[1].source, target[1].target}};
  (*aligned_->up)(fields);
  aligned_->grid.wrap(here);
  e_ = &here;
}

template <class C>
void Transfer<C>::interpolate_plane(typename Grid::Colour colour, Index i, Index margin, Field& u) {
  const Grid& source = aligned_ ? aligned_->grid : coarse_;
  const auto rows = fine_.range(1, margin);
  const Interpolation& zero = rows_[0].interpolation[at(i - rows_[0].first)];
  constexpr Index before = 1;  // columns of coarse ghosts, in halves
  for (Index j = rows.low; j < rows.high; ++j) {
    const Interpolation& one = rows_[1].interpolation[at(j - rows_[1].first)];
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
    const Index half = Grid::half_of(colour, i, j), count = source.half_length() + 2 * before;
    const auto length = static_cast<std::ptrdiff_t>(row_.size() / 2);
    C *const even = row_.data(), *const odd = row_.data() + length;
    kernels_.sum(from[0], count, even);
    kernels_.sum(from[1], count, odd);
    // Coarse values by the fine points of either half: those at X, and those next to these.
    std::array<const C*, 2> own{even + before, odd + before}, other = own;
    if (columns_.is_halved) {
      kernels_.join(even, odd, count, sums_.data());
      own.fill(sums_.data() + 2 * before);
      other = {own[0] - 1, own[1] + 1};
    }
    C* const row = fine_.row(u, half, i, j);
    kernels_.interpolate(columns_.own[at(half)].data(), columns_.other[at(half)].data(), own[at(half)], other[at(half)],
                         fine_.half_length(), row);
    fine_.for_each_wrapped([&](Index at_half, Index x, Index same_half, Index same_x) {
      if (at_half != half) return;
      const std::size_t h = at(same_half), place = at(same_x);
      row[x] += columns_.own[h][place] * own[h][same_x] + columns_.other[h][place] * other[h][same_x];
    });
  }
}

template class Transfer<float>;
template class Transfer<double>;

}  // namespace plait::poisson
