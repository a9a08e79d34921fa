#include "plait/poisson/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plait::poisson {

namespace {

constexpr Index most_points_to_eliminate = 32;

// Those whose spacing is near the least one.
std::array<bool, layout::axes> axes_to_halve(const Axes& axes) {
  constexpr double near = 1.5;
  double least = INFINITY;
  for (const Axis& axis : axes) {
    if (axis.can_be_halved()) least = std::min(least, axis.spacing());
  }
  std::array<bool, layout::axes> halves{};
  for (std::size_t a = 0; a < layout::axes; ++a) {
    halves[a] = axes[a].can_be_halved() && axes[a].spacing() <= near * least;
  }
  return halves;
}

// Whether each part that has fine points has coarse ones, too.
bool has_points_where(const layout::BoxPartition& fine, const layout::BoxPartition& coarse) {
  for (std::size_t a = 0; a < layout::axes; ++a) {
    const std::vector<Index>&f = fine.splits()[a], &c = coarse.splits()[a];
    for (std::size_t part = 0; part + 1 < f.size(); ++part) {
      if (f[part] < f[part + 1] && c[part] == c[part + 1]) return false;
    }
  }
  return true;
}

}  // namespace

template <class T>
Multigrid<T>::Multigrid(mpi::Context& context, Level<T>& finest, const MultigridOptions& options)
    : context_(context), options_(options) {
  levels_.emplace_back(finest);
  add_stages(options.least_points_per_rank);
  factorize();
}

template <class T>
void Multigrid<T>::add_stages(Index least_points_per_rank) {
  while (true) {
    const Level<T>& fine = *levels_.back().grid;
    const layout::BoxPartition& partition = fine.partition();
    layout::Coarsening how{axes_to_halve(fine.axes())};
    for (std::size_t a = 0; a < layout::axes; ++a) how.first[a] = how.halves[a] ? fine.axes()[a].first_coarse() : 0;
    const bool is_last =
        how.halves == std::array{false, false, false} || partition.whole().points() <= most_points_to_eliminate;
    if (is_last && partition.number_of_parts() == 1) return;
    const auto on_fewer = [&](const layout::Box& whole, Index parts) {
      return layout::BoxPartition::for_ranks(whole, context_.size(), static_cast<int>(std::max<Index>(parts, 1)));
    };
    if (is_last) {
      add_stage({}, on_fewer(partition.whole(), 1));
      continue;
    }
    const layout::BoxPartition aligned = partition.coarsened(how);
    if (!has_points_where(partition, aligned)) {  // ranks interpolate between coarse points of their own
      add_stage({}, on_fewer(partition.whole(), partition.number_of_parts() / 2));
      continue;
    }
    const Index wanted = aligned.whole().points() / std::max<Index>(least_points_per_rank, 1);
    add_stage(how, wanted >= aligned.number_of_parts() || aligned.number_of_parts() == 1
                       ? aligned
                       : on_fewer(aligned.whole(), wanted));
  }
}

template <class T>
void Multigrid<T>::add_stage(const layout::Coarsening& how, const layout::BoxPartition& partition) {
  Stage& fine = levels_.back();
  Axes axes = fine.grid->axes();
  for (std::size_t a = 0; a < layout::axes; ++a) {
    if (how.halves[a]) axes[a] = axes[a].halved();
    fine.between[a].is_halved = how.halves[a];
  }
  fine.only_moves = how.halves == std::array{false, false, false};
  fine.aligned = fine.grid->partition().coarsened(how);
  auto coarse = std::make_unique<Level<T>>(context_, axes, partition);
  connect(fine, *coarse);
  if (fine.grid->coefficient()) {
    Values<T> k = *fine.grid->coefficient(), coarse_k = coarse->zeros();
    restrict_to(fine, k, coarse_k);
    coarse->set_coefficient(std::move(coarse_k));
  }
  levels_.emplace_back(std::move(coarse));
}

template <class T>
void Multigrid<T>::connect(Stage& fine, const Level<T>& coarse) {
  const layout::Point& layers = fine.grid->layers();
  fine.coarse = fine.aligned.box(context_.rank());
  fine.coarse_memory = fine.coarse.grown(layers);
  fine.coarse_values.assign(at(fine.coarse_memory.points()) + 8, T{});
  row_.resize(std::max(row_.size(), at(fine.grid->row_length()) + 8));
  halo::Filling down{fine.aligned, coarse.partition(), layers, layers};
  std::array<bool, layout::axes> periodic{};
  for (std::size_t a = 0; a < layout::axes; ++a) periodic[a] = coarse.axes()[a].is_periodic();
  halo::Filling up{coarse.partition(), fine.aligned, layers, layers, layers, periodic};
  fine.down.emplace(context_, down, Index{sizeof(T)}, 1, "coarse grid");
  fine.up.emplace(context_, up, Index{sizeof(T)}, 1, "coarse grid");
  for (std::size_t a = 0; a < layout::axes; ++a) {
    Between& between = fine.between[a];
    const Axis &along = fine.grid->axes()[a], &coarse_along = coarse.axes()[a];
    between.taps = between.is_halved ? along.taps() : 1;
    for (Index i = fine.coarse.low[a]; i < fine.coarse.high[a]; ++i) {
      const Axis::Taps taps = between.is_halved ? along.restriction(coarse_along, i) : Axis::Taps{1, 0, 0};
      for (std::size_t t = 0; t < 3; ++t) between.restriction[t].push_back(static_cast<T>(taps[t]));
    }
    for (Index i = fine.grid->own().low[a]; i < fine.grid->own().high[a]; ++i) {
      const auto [own, other] = between.is_halved ? along.interpolation(coarse_along, i) : Axis::Interpolation{1, 0};
      between.own.push_back(static_cast<T>(own));
      between.other.push_back(static_cast<T>(other));
    }
  }
}

// Fine rows are added up with their weights, then the points of the sum.
template <class T>
void Multigrid<T>::restrict_to(Stage& fine, Values<T>& values, Values<T>& coarse) {
  if (!fine.only_moves) fine.grid->exchange(values, halo::Reach::corners);
  const auto& [zero, one, two] = fine.between;
  const layout::Box& box = fine.coarse;
  const Index length = box.extent(2);
  const Index fine_low = two.is_halved ? 2 * box.low[2] : box.low[2];
  const Index sum_length = two.is_halved ? 2 * length - 2 + two.taps : length;
  for (Index i = box.low[0]; i < box.high[0]; ++i) {
    for (Index j = box.low[1]; j < box.high[1]; ++j) {
      if (length == 0) continue;
      std::fill_n(row_.begin(), sum_length, T{});
      for (Index s = 0; s < zero.taps; ++s) {
        for (Index t = 0; t < one.taps; ++t) {
          const T weight = zero.restriction[at(s)][at(i - box.low[0])] * one.restriction[at(t)][at(j - box.low[1])];
          if (weight == 0) continue;
          const T* const from = values.data() + fine.grid->offset_of({zero.is_halved ? 2 * i + s : i,
                                                                      one.is_halved ? 2 * j + t : j, fine_low});
          for (Index x = 0; x < sum_length; ++x) row_[at(x)] += weight * from[x];
        }
      }
      T* const to = fine.coarse_values.data() + fine.coarse_memory.offset_of({i, j, box.low[2]});
      const T *const sums = row_.data(), *const w0 = two.restriction[0].data(), *const w1 = two.restriction[1].data(),
                     *const w2 = two.restriction[2].data();
      if (!two.is_halved) {
        std::copy_n(sums, length, to);
      } else if (two.taps == 2) {
        for (Index x = 0; x < length; ++x) to[x] = w0[x] * sums[2 * x] + w1[x] * sums[2 * x + 1];
      } else {
        for (Index x = 0; x < length; ++x) {
          to[x] = w0[x] * sums[2 * x] + w1[x] * sums[2 * x + 1] + w2[x] * sums[2 * x + 2];
        }
      }
    }
  }
  const halo::Field field{fine.coarse_values.data(), coarse.data()};
  (*fine.down)(std::span(&field, 1));
}

// u ← u + P coarse: coarse rows are added up with their weights, then the points of the sum.
template <class T>
void Multigrid<T>::interpolate(Stage& fine, const Values<T>& coarse, Values<T>& u) {
  const halo::Field field{coarse.data(), fine.coarse_values.data()};
  (*fine.up)(std::span(&field, 1));
  const auto& [zero, one, two] = fine.between;
  const layout::Box& own = fine.grid->own();
  // Of a fine point: the coarse one above it, and the one next to that.
  const auto parent = [](const Between& between, Index i) { return between.is_halved ? i / 2 : i; };
  const auto neighbour = [](Index i) { return i % 2 == 1 ? i / 2 + 1 : i / 2 - 1; };
  const Index first = parent(two, own.low[2]) - 1;  // of the sum
  const Index sum_length = own.is_empty() ? 0 : parent(two, own.high[2] - 1) + 2 - first;
  row_.resize(std::max(row_.size(), at(sum_length)));
  fine.grid->for_each_row([&](Index offset, Index i, Index j) {
    const Index length = fine.grid->row_length();
    if (length == 0) return;
    std::fill_n(row_.begin(), sum_length, T{});
    for (const bool is_other0 : {false, true}) {
      const T weight0 = (is_other0 ? zero.other : zero.own)[at(i - own.low[0])];
      if (weight0 == 0) continue;
      for (const bool is_other1 : {false, true}) {
        const T weight = weight0 * (is_other1 ? one.other : one.own)[at(j - own.low[1])];
        if (weight == 0) continue;
        const Index p = is_other0 ? neighbour(i) : parent(zero, i), q = is_other1 ? neighbour(j) : parent(one, j);
        // Nodes have one fine point more than coarse ones on both sides, whose value there is 0.
        layout::Point from{p, q, std::max(first, fine.coarse_memory.low[2])};
        const Index skipped = from[2] - first;
        const Index count = std::min(sum_length, fine.coarse_memory.high[2] - first);
        if (!fine.coarse_memory.contains(from)) continue;
        const T* const values = fine.coarse_values.data() + fine.coarse_memory.offset_of(from);
        for (Index x = skipped; x < count; ++x) row_[at(x)] += weight * values[x - skipped];
      }
    }
    T* const to = u.data() + offset;
    if (!two.is_halved) {
      for (Index x = 0; x < length; ++x) to[x] += row_[at(x + 1)];
      return;
    }
    const T *const a = two.own.data(), *const b = two.other.data();
    // Sum s is that of coarse point first + s, which has the fine points 2 (first + s) and the one above.
    const Index odd = own.low[2] % 2;
    if (odd == 1) to[0] += a[0] * row_[1] + b[0] * row_[2];
    const T* const sums = row_.data() + 1 + odd;
    Index x = odd;
    for (Index s = 0; x + 1 < length; ++s, x += 2) {
      to[x] += a[x] * sums[s] + b[x] * sums[s - 1];
      to[x + 1] += a[x + 1] * sums[s] + b[x + 1] * sums[s + 1];
    }
    if (x < length) {
      const Index s = (x - odd) / 2;
      to[x] += a[x] * sums[s] + b[x] * sums[s - 1];
    }
  });
}

template <class T>
void Multigrid<T>::cycle(Cycle kind, Values<T>& u, const Values<T>& b) {
  cycle(0, kind, u, b);
}

template <class T>
void Multigrid<T>::cycle(std::size_t number, Cycle kind, Values<T>& u, const Values<T>& b) {
  Stage& stage = levels_[number];
  if (number + 1 == levels_.size()) return solve_coarsest(u, b);
  Stage& coarse = levels_[number + 1];
  if (stage.only_moves) {
    stage.r = b;
    restrict_to(stage, stage.r, coarse.b);
    stage.r = u;
    restrict_to(stage, stage.r, coarse.u);
    cycle(number + 1, kind, coarse.u, coarse.b);
    std::ranges::fill(u, T{});
    return interpolate(stage, coarse.u, u);
  }
  for (int i = 0; i < options_.sweeps_before; ++i) stage.grid->sweep(1, u, b);
  stage.grid->exchange(u);
  stage.grid->residual(u, b, stage.r);
  restrict_to(stage, stage.r, coarse.b);
  std::ranges::fill(coarse.u, T{});
  cycle(number + 1, kind, coarse.u, coarse.b);
  if (kind != Cycle::v && number + 2 < levels_.size()) {
    cycle(number + 1, kind == Cycle::f ? Cycle::v : kind, coarse.u, coarse.b);
  }
  interpolate(stage, coarse.u, u);
  for (int i = 0; i < options_.sweeps_after; ++i) stage.grid->sweep(1, u, b);
}

template <class T>
void Multigrid<T>::full(Values<T>& u, const Values<T>& b) {
  Stage& finest = levels_.front();
  const bool has_coarse_grids =
      std::any_of(levels_.begin(), levels_.end() - 1, [](const Stage& s) { return !s.only_moves; });
  if (!has_coarse_grids) return cycle(0, Cycle::v, u, b);
  finest.grid->exchange(u);
  finest.grid->residual(u, b, finest.r);
  finest.b = finest.r;
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
    levels_[l].r = levels_[l].b;
    restrict_to(levels_[l], levels_[l].r, levels_[l + 1].b);
  }
  solve_coarsest(levels_.back().u, levels_.back().b);
  for (std::size_t l = levels_.size() - 1; l-- > 0;) {
    Stage& stage = levels_[l];
    stage.u.assign(stage.r.size(), T{});
    interpolate(stage, levels_[l + 1].u, stage.u);
    if (!stage.only_moves) cycle(l, Cycle::v, stage.u, stage.b);
  }
  for (std::size_t p = 0; p < u.size(); ++p) u[p] += finest.u[p];
}

// Gaussian elimination with pivots, on the one rank that has the level. Where A has no inverse, since constants change
// nothing, Σ width · u is added to each equation: its solution for a right side that has one is that of sum 0.
template <class T>
void Multigrid<T>::factorize() {
  Level<T>& grid = *levels_.back().grid;
  const layout::Box whole = grid.partition().whole();
  const auto n = at(whole.points());
  bool is_singular = true;
  for (const Axis& axis : grid.axes()) {
    for (const Side side : axis.sides()) is_singular = is_singular && side != Side::value;
  }
  const bool has_it = !grid.own().is_empty();
  std::vector<double> a(has_it ? n * n : 0);
  Values<T> unit = grid.zeros(), image = grid.zeros();
  const Values<T> none = grid.zeros();
  std::vector<T> column(has_it ? n : 0), input(has_it ? n : 0);
  for (std::size_t k = 0; k < n; ++k) {
    if (has_it) std::ranges::fill(input, T{}), input[k] = 1;
    grid.copy_in(input, unit);
    grid.exchange(unit);
    grid.residual(unit, none, image);
    grid.copy_out(image, column);
    for (std::size_t i = 0; i < column.size(); ++i) a[i * n + k] = -static_cast<double>(column[i]);
  }
  if (!has_it) return;
  if (is_singular) {
    double scale = 0, volume = 0;
    std::vector<double> volumes;
    for (Index i = 0; i < whole.high[0]; ++i) {
      for (Index j = 0; j < whole.high[1]; ++j) {
        for (Index x = 0; x < whole.high[2]; ++x) {
          volumes.push_back(grid.axes()[0].width(i) * grid.axes()[1].width(j) * grid.axes()[2].width(x));
          volume += volumes.back();
        }
      }
    }
    for (std::size_t i = 0; i < n; ++i) scale = std::max(scale, a[i * n + i]);
    if (scale == 0) scale = 1;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) a[i * n + k] += scale * volumes[k] / volume;
    }
  }
  pivots_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    pivots_[k] = pivot;
    for (std::size_t c = 0; c < n; ++c) std::swap(a[k * n + c], a[pivot * n + c]);
    for (std::size_t i = k + 1; i < n; ++i) {
      a[i * n + k] /= a[k * n + k];
      for (std::size_t c = k + 1; c < n; ++c) a[i * n + c] -= a[i * n + k] * a[k * n + c];
    }
  }
  factors_ = std::move(a);
}

template <class T>
void Multigrid<T>::solve_coarsest(Values<T>& u, const Values<T>& b) {
  const Level<T>& grid = *levels_.back().grid;
  const std::size_t n = pivots_.size();
  if (n == 0) return;
  std::vector<T> right_side(n);
  grid.copy_out(b, right_side);
  std::vector<double> x(right_side.begin(), right_side.end());
  for (std::size_t k = 0; k < n; ++k) std::swap(x[k], x[pivots_[k]]);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i) x[i] -= factors_[i * n + k] * x[k];
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t c = k + 1; c < n; ++c) x[k] -= factors_[k * n + c] * x[c];
    x[k] /= factors_[k * n + k];
  }
  std::ranges::transform(x, right_side.begin(), [](double value) { return static_cast<T>(value); });
  grid.copy_in(right_side, u);
}

template class Multigrid<float>;
template class Multigrid<double>;

}  // namespace plait::poisson
