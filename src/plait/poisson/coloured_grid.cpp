#include "plait/poisson/coloured_grid.hpp"

#include <algorithm>
#include <utility>

#include "plait/base/rounding.hpp"

namespace plait::poisson {

template <class C>
ColouredGrid<C>::ColouredGrid(mpi::Context& context, const Axes& axes, layout::BoxPartition partition, double unit)
    : context_(context),
      axes_(axes),
      partition_(std::move(partition)),
      unit_(unit),
      own_(partition_.box(context.rank())),
      kernels_(stencil_kernels<C>(axes[1].is_used() ? 2 : 1, false)) {
  for (std::size_t a = 0; a < 2; ++a) {
    const bool has_more = partition_.parts()[a] > 1 || axes[a].is_periodic();
    ghosts_[a] = !axes[a].is_used() ? 0 : has_more ? layers : 1;
    low_[a] = own_.low[a] - ghosts_[a];
    rows_[a] = own_.is_empty() ? 0 : own_.high[a] - own_.low[a] + 2 * ghosts_[a];
  }
  const Index n = columns();
  first_ = axes[2].is_periodic() ? -layers / 2 : 0;
  count_ = (axes[2].is_periodic() ? (n + layers + 1) / 2 : half_length()) - first_;
  pitch_ = rounded_up(pad + first_ + count_ + 1, pad) + pad;
  half_size_ = rows_[0] * rows_[1] * pitch_;
  none_.assign(at(pitch_), C{});
  for (std::size_t a = 0; a < 2; ++a) {
    for (Index i = low_[a]; i < low_[a] + rows_[a]; ++i) {
      const auto [below, above, inverse_width] = axes_[a].weights(i, unit);
      weights_[a].below.push_back(static_cast<C>(below));
      weights_[a].above.push_back(static_cast<C>(above));
      weights_[a].both.push_back(static_cast<C>(below + above));
      weights_[a].inverse_width.push_back(static_cast<C>(inverse_width));
    }
  }
  const Index begin = axes[2].is_periodic() ? -layers : 0, end = axes[2].is_periodic() ? n + layers : n;
  for (Columns* columns : {&left_, &right_, &both_, &inverse_width_}) columns->fill(none_);
  for (Index x = begin; x < end; ++x) {
    const auto [below, above, inverse_width] = axes_[2].weights(x, unit);
    const std::size_t half = at(x & 1), place = at((x >> 1) + pad);
    left_[half][place] = static_cast<C>(below);
    right_[half][place] = static_cast<C>(above);
    both_[half][place] = static_cast<C>(below + above);
    inverse_width_[half][place] = static_cast<C>(inverse_width);
  }
}

template <class C>
auto ColouredGrid<C>::zeros() const -> Field {
  Field field(2 * half_size_ + 2 * pad);
  std::ranges::fill(field.span(), C{});
  return field;
}

template <class C>
auto ColouredGrid<C>::range(std::size_t axis, Index margin) const -> Range {
  if (own_.is_empty()) return {0, 0};
  if (ghosts_[axis] < layers) return {own_.low[axis], own_.high[axis]};
  const Index low = own_.low[axis] - margin, high = own_.high[axis] + margin;
  if (axes_[axis].is_periodic()) return {low, high};
  return {std::max<Index>(low, 0), std::min(high, axes_[axis].extent())};
}

template <class C>
layout::BoxPartition ColouredGrid<C>::of_rows(const layout::BoxPartition& partition, Index pitch) {
  return {{partition.splits()[0], partition.splits()[1], {0, pitch}}, partition.ranks()};
}

template <class C>
layout::Point ColouredGrid<C>::ghost_layers(Index most) const {
  const auto least = [&](std::size_t a) { return ghosts_[a] < layers ? std::min(ghosts_[a], most) : most; };
  return {least(0), least(1), 0};
}

template <class C>
std::array<halo::Field, 2> ColouredGrid<C>::halves(const Field& from, const Field& to) const {
  // Each begins where its memory does, with the pad of its first row.
  return {{{from.data(), to.data()}, {from.data() + half_size_, to.data() + half_size_}}};
}

template <class C>
void ColouredGrid<C>::fill_ghosts(Field& field, Index width) {
  const bool is_filled = partition_.number_of_parts() > 1 || axes_[0].is_periodic() || axes_[1].is_periodic();
  if (is_filled) {
    std::unique_ptr<halo::Exchange>& exchange = exchanges_[at(width)];
    if (!exchange) {
      const layout::BoxPartition rows = of_rows(partition_, pitch_);
      const halo::Filling filling{rows,
                                  rows,
                                  ghosts_,
                                  ghosts_,
                                  ghost_layers(width),
                                  {axes_[0].is_periodic(), axes_[1].is_periodic(), false},
                                  halo::Reach::corners,
                                  true};
      exchange = std::make_unique<halo::Exchange>(context_, filling, Index{sizeof(C)}, 2, "grid");
    }
    (*exchange)(halves(field, field));
  }
  wrap(field);
}

template <class C>
void ColouredGrid<C>::wrap(Field& field) const {
  if (!axes_[2].is_periodic()) return;
  for (Index i = low_[0]; i < low_[0] + rows_[0]; ++i) {
    for (Index j = low_[1]; j < low_[1] + rows_[1]; ++j) {
      for_each_wrapped([&](Index half, Index x, Index same_half, Index same_x) {
        row(field, half, i, j)[x] = row(field, same_half, i, j)[same_x];
      });
    }
  }
}

template <class C>
void ColouredGrid<C>::set_coefficient(Field k) {
  fill_ghosts(k, layers);
  k_ = std::move(k);
  kernels_ = stencil_kernels<C>(axes_[1].is_used() ? 2 : 1, true);
  const auto conductance = transfer_kernels<C>().conductance;
  const Index n = columns();
  std::array<Columns, 2> shares, ones;
  for (Columns* columns : {&shares[0], &shares[1], &ones[0]}) columns->fill(none_);
  const Index begin = axes_[2].is_periodic() ? 1 - layers : 0, end = axes_[2].is_periodic() ? n + layers : n + 1;
  for (Index x = begin; x < end; ++x) {
    const std::size_t half = at(x & 1), place = at((x >> 1) + pad);
    const auto [below, above] = axes_[2].shares_below(axes_[2].is_periodic() ? axes_[2].within(x) : x);
    shares[0][half][place] = static_cast<C>(below / unit_);
    shares[1][half][place] = static_cast<C>(above / unit_);
    if (axes_[2].is_periodic() || x < n) ones[0][half][place] = 1;
  }
  for (std::size_t a = 0; a < layout::axes; ++a) {
    if (!axes_[a].is_used()) continue;
    c_[a] = zeros();
    Range planes = range(0, layers), rows = range(1, layers);
    // Faces within memory: from the second row of it on where there are ghosts, and one above the last point.
    if (a == 0) planes = {std::max(planes.low, low_[0] + 1), std::min(planes.high + 1, low_[0] + rows_[0])};
    if (a == 1) rows = {std::max(rows.low, low_[1] + 1), std::min(rows.high + 1, low_[1] + rows_[1])};
    for (Index i = planes.low; i < planes.high; ++i) {
      for (Index j = rows.low; j < rows.high; ++j) {
        for (Index half = 0; half < 2; ++half) {
          const C* const here = row(k_, half, i, j) + first_;
          C* const c = row(c_[a], half, i, j) + first_;
          if (a == 2) {
            const C* const below = row(k_, 1 - half, i, j) + first_ - (half == 0 ? 1 : 0);
            conductance(below, here,
                        {shares[0][at(half)].data() + pad + first_, shares[1][at(half)].data() + pad + first_}, {1, 1},
                        count_ + 1, c);
            continue;
          }
          const C* const below = a == 0 ? row(k_, half, i - 1, j) + first_ : row(k_, half, i, j - 1) + first_;
          const Index face = a == 0 ? i : j;
          const auto [share_below, share_above] =
              axes_[a].shares_below(axes_[a].is_periodic() ? axes_[a].within(face) : face);
          const C* const mask = ones[0][at(half)].data() + pad + first_;
          conductance(below, here, {mask, mask},
                      {static_cast<C>(share_below / unit_), static_cast<C>(share_above / unit_)}, count_, c);
        }
      }
    }
  }
}

template <class C>
const C* ColouredGrid<C>::inverse_row(C others, Index half) {
  for (const InverseRow& row : inverse_rows_) {
    if (row.others == others) return row.inverse[at(half)].data() + pad;
  }
  InverseRow& row = inverse_rows_.emplace_back(InverseRow{others, both_});
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t x = 0; x < row.inverse[h].size(); ++x) {
      const C diagonal = both_[h][x] + others;
      const bool is_point = inverse_width_[h][x] != 0 && diagonal > 0;
      row.inverse[h][x] = is_point ? 1 / diagonal : C{};
    }
  }
  return row.inverse[at(half)].data() + pad;
}

template <class C>
RowStencil<C> ColouredGrid<C>::stencil(Colour colour, Index i, Index j, const Field& u, const Field& b) {
  const Index half = half_of(colour, i, j), shift = half == 0 ? -1 : 0;
  const std::size_t h = at(half), p = at(i - low_[0]), q = at(j - low_[1]);
  const C* const none = none_.data() + pad;
  const bool has_axis_0 = axes_[0].is_used(), has_axis_1 = axes_[1].is_used();
  RowStencil<C> at_row{};
  at_row.u = row(u, half, i, j);
  at_row.b = row(b, half, i, j);
  at_row.left = row(u, 1 - half, i, j) + shift;
  at_row.right = at_row.left + 1;
  at_row.below = {has_axis_0 ? row(u, half, i - 1, j) : none, has_axis_1 ? row(u, half, i, j - 1) : none};
  at_row.above = {has_axis_0 ? row(u, half, i + 1, j) : none, has_axis_1 ? row(u, half, i, j + 1) : none};
  if (k_.size() > 0) {
    at_row.c_left = axes_[2].is_used() ? row(c_[2], half, i, j) : none;
    at_row.c_right = axes_[2].is_used() ? row(c_[2], 1 - half, i, j) + shift + 1 : none;
    at_row.inverse_width = inverse_width_[h].data() + pad;
    at_row.c_below = {has_axis_0 ? row(c_[0], half, i, j) : none, has_axis_1 ? row(c_[1], half, i, j) : none};
    at_row.c_above = {has_axis_0 ? row(c_[0], half, i + 1, j) : none, has_axis_1 ? row(c_[1], half, i, j + 1) : none};
    at_row.inverse_widths = {weights_[0].inverse_width[p], weights_[1].inverse_width[q]};
  } else {
    at_row.weight_left = left_[h].data() + pad;
    at_row.weight_right = right_[h].data() + pad;
    at_row.weight_below = {weights_[0].below[p], weights_[1].below[q]};
    at_row.weight_above = {weights_[0].above[p], weights_[1].above[q]};
    at_row.inverse = inverse_row(weights_[0].both[p] + weights_[1].both[q], half);
  }
  return at_row;
}

// Every other row has its points in the same half; where k = 1, runs of these with the same weights are computed at
// once.
template <class C>
template <class F>
void ColouredGrid<C>::for_each_run(Colour colour, Index i, const Range& rows, const Field& u, const Field& b,
                                   const F& f) {
  const bool has_rows = axes_[1].is_used();
  const auto same = [&](Index j, Index k) {
    const Weights& weights = weights_[1];
    const std::size_t p = at(j - low_[1]), q = at(k - low_[1]);
    return weights.below[p] == weights.below[q] && weights.above[p] == weights.above[q] &&
           weights.inverse_width[p] == weights.inverse_width[q];
  };
  for (Index begin = rows.low; begin < std::min(rows.low + 2, rows.high); ++begin) {
    for (Index j = begin; j < rows.high;) {
      RowStencil<C> run = stencil(colour, i, j, u, b);
      run.step = 2 * pitch_;
      const Index half = half_of(colour, i, j);
      // The next plane's row is in the other half.
      run.ahead = has_rows ? run.step : pitch_ + (half == 0 ? half_size_ : -half_size_);
      const Index first = j;
      for (j += 2; j < rows.high && same(first, j); j += 2) ++run.rows;
      f(run, half, first);
    }
  }
}

template <class C>
void ColouredGrid<C>::relax(Colour colour, Index i, Index margin, Field& u, const Field& b, bool is_zero) {
  const auto kernel = is_zero ? kernels_.begin : kernels_.relax;
  for_each_run(colour, i, range(1, margin), u, b, [&](RowStencil<C>& run, Index half, Index j) {
    run.advance(first_);
    for (auto* pointer : {&run.weight_left, &run.weight_right, &run.inverse, &run.inverse_width}) {
      *pointer += *pointer != nullptr ? first_ : 0;
    }
    kernel(run, count_, row(u, half, i, j) + first_);
  });
}

template <class C>
void ColouredGrid<C>::residual(Colour colour, Index i, const Field& u, const Field& b, C* even, C* odd) {
  const Range rows = range(1, 1);
  for_each_run(colour, i, rows, u, b, [&](const RowStencil<C>& run, Index half, Index j) {
    kernels_.residual(run, half_length(), (half == 0 ? even : odd) + (j - rows.low) * pitch_);
  });
}

template <class C>
void ColouredGrid<C>::residual(const Field& u, const Field& b, Field& r) {
  const Range planes = range(0, 0);
  const Index first = range(1, 1).low;
  for (Index i = planes.low; i < planes.high; ++i) {
    for (const Colour colour : {red, black}) residual(colour, i, u, b, row(r, 0, i, first), row(r, 1, i, first));
  }
}

template class ColouredGrid<float>;
template class ColouredGrid<double>;

}  // namespace plait::poisson
