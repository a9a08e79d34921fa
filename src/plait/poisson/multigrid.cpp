#include "plait/poisson/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/poisson/coloured_grid.hpp"
#include "plait/poisson/elimination.hpp"
#include "plait/poisson/problem.hpp"
#include "plait/poisson/transfer.hpp"

namespace plait::poisson {

namespace {

constexpr Index most_points_to_eliminate = 32;

std::array<bool, layout::axes> axes_to_halve(const Axes& axes) {
  return near_least({axes[0].spacing(), axes[1].spacing(), axes[2].spacing()},
                    {axes[0].can_be_halved(), axes[1].can_be_halved(), axes[2].can_be_halved()});
}

// Whether there is no coarser one.
bool is_last(const Axes& axes) {
  return axes_to_halve(axes) == std::array{false, false, false} ||
         axes[0].extent() * axes[1].extent() * axes[2].extent() <= most_points_to_eliminate;
}

// Axes of grids and of levels are the same, but for the first two of a plane: grids of two dimensions use axes 0 and 2.
std::array<std::size_t, layout::axes> order_of(const Axes& axes) {
  if (!axes[0].is_used() && axes[1].is_used()) return {1, 0, 2};
  return {0, 1, 2};
}

Axes ordered(const Axes& axes, const std::array<std::size_t, layout::axes>& order) {
  return {axes[order[0]], axes[order[1]], axes[order[2]]};
}

layout::BoxPartition ordered(const layout::BoxPartition& partition,
                             const std::array<std::size_t, layout::axes>& order) {
  const auto& splits = partition.splits();
  return {{splits[order[0]], splits[order[1]], splits[order[2]]}, partition.ranks()};
}

double power_of_two_near(double value) { return std::exp2(std::round(std::log2(value))); }

template <class C>
using Field = typename ColouredGrid<C>::Field;

template <class T, class C>
class HierarchyOf final : public Multigrid<T> {
  using Grid = ColouredGrid<C>;
  using Range = typename Grid::Range;

 public:
  HierarchyOf(mpi::Context& context, Level<T>& finest, const MultigridOptions& options, double largest_k)
      : context_(context),
        options_(options),
        finest_(finest),
        order_(order_of(finest.axes())),
        kernels_(transfer_kernels<C>()),
        conversions_(conversion_kernels<T, C>()) {
    double unit = INFINITY;
    for (const Axis& axis : finest.axes()) {
      if (axis.is_used()) unit = std::min(unit, axis.spacing());
    }
    unit = power_of_two_near(unit);
    const double k_unit = power_of_two_near(largest_k);
    operator_scale_ = unit * unit / k_unit;
    add_stage(ordered(finest.axes(), order_), ordered(finest.partition(), order_), unit);
    Grid& grid = stages_.front().grid;
    const auto length = at(2 * grid.pitch() + 2 * most_lanes);
    wide_.resize(length);
    row_.resize(length);
    if (finest.coefficient()) {
      Field<C> k = grid.zeros();
      for_each_row(
          0, [&](Index i, Index j) { load_row(finest.coefficient()->data() + offset(i, j), 1 / k_unit, k, i, j); });
      grid.set_coefficient(std::move(k));
    }
    while (!is_last(stages_.back().grid.axes())) add_coarser(unit);
    coarsest_.emplace(stages_.back().grid, is_singular(finest.axes()));
  }

  void begin(Values<T>& u, const Values<T>& b, krylov::Dots& dots) override {
    finest_.exchange(u);
    largest_ = 0;
    keep_residual(nullptr, u, b, &dots);
    if (set_scale(largest_)) keep_residual(nullptr, u, b, nullptr);
  }

  void improve(Cycle kind, Values<T>& u, const Values<T>& b, krylov::Dots& dots) override {
    const bool is_full = kind == Cycle::full && stages_.size() > 1;
    if (is_full) {
      start();
      correct(u, b, nullptr);
    }
    for (int i = 0; i < (kind == Cycle::full ? 1 : options_.cycles); ++i) {
      cycle(0, is_full ? Cycle::v : kind, i == 0);
    }
    correct(u, b, &dots);
  }

  void apply(Cycle kind, const Values<T>& b, Values<T>& u) override {
    Stage& stage = stages_.front();
    if (!has_scale_) {
      largest_ = 0;
      for_each_row(0, [&](Index i, Index j) { look_at(b.data() + offset(i, j)); });
      set_scale(largest_);
    }
    for_each_row(0, [&](Index i, Index j) { load_row(b.data() + offset(i, j), scale_, stage.b, i, j); });
    stage.grid.fill_ghosts(stage.b, 3);
    cycle(0, kind, true);
    std::ranges::fill(u, T{});
    for_each_row(0, [&](Index i, Index j) { add_row(stage.u, u, i, j); });
  }

  [[nodiscard]] int levels() const noexcept override { return static_cast<int>(stages_.size()); }
  [[nodiscard]] int parts(int level) const override { return stages_[at(level)].grid.partition().number_of_parts(); }

 private:
  struct Stage {
    Stage(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition, double unit)
        : grid(context, axes, partition, unit), u(grid.zeros()), b(grid.zeros()), r(at(8 * plane() + most_lanes)) {}
    [[nodiscard]] Index plane() const {
      const Range rows = grid.range(1, 1);
      return (rows.high - rows.low) * grid.pitch();
    }
    // The residuals of the last four planes.
    [[nodiscard]] C* residual(Index half, Index i, Index j) {
      return r.data() + ((i & 3) * 2 + half) * plane() + (j - grid.range(1, 1).low) * grid.pitch();
    }

    Grid grid;
    Field<C> u, b;
    std::vector<C> r;
  };

  void add_stage(const Axes& axes, const layout::BoxPartition& partition, double unit) {
    stages_.emplace_back(context_, axes, partition, unit);
  }

  void add_coarser(double unit) {
    Stage& fine = stages_.back();
    Axes axes = fine.grid.axes();
    const layout::Coarsening how = coarsening(axes);
    for (std::size_t a = 0; a < layout::axes; ++a) {
      if (how.halves[a]) axes[a] = axes[a].halved();
    }
    const layout::BoxPartition aligned = fine.grid.partition().coarsened(how);
    const Index wanted =
        is_last(axes) ? 1 : aligned.whole().points() / std::max<Index>(options_.least_points_per_rank, 1);
    const layout::BoxPartition partition = coarse_partition(aligned, wanted, Grid::layers);
    add_stage(axes, partition, unit);
    Stage& coarse = stages_.back();
    Transfer<C>& transfer = transfers_.emplace_back(context_, fine.grid, coarse.grid, aligned, how.halves, unit);
    if (fine.grid.coefficient().size() > 0) {
      Field<C> k = coarse.grid.zeros();
      transfer.restrict_all(fine.grid.coefficient(), k);
      coarse.grid.set_coefficient(std::move(k));
    }
  }

  [[nodiscard]] static layout::Coarsening coarsening(const Axes& axes) {
    layout::Coarsening how{axes_to_halve(axes)};
    for (std::size_t a = 0; a < layout::axes; ++a) how.first[a] = how.halves[a] ? axes[a].first_coarse() : 0;
    return how;
  }

  // Of a level and the finest grid.

  [[nodiscard]] layout::Point place(Index i, Index j) const {
    layout::Point point{};
    point[order_[0]] = i;
    point[order_[1]] = j;
    return point;
  }
  [[nodiscard]] Index offset(Index i, Index j) const { return finest_.offset_of(place(i, j)); }

  template <class F>
  void for_each_row(Index margin, const F& f) const {
    const Grid& grid = stages_.front().grid;
    const Range planes = grid.range(0, margin), rows = grid.range(1, margin);
    for (Index i = planes.low; i < planes.high; ++i) {
      for (Index j = rows.low; j < rows.high; ++j) f(i, j);
    }
  }

  void load_row(const T* from, double scale, Field<C>& to, Index i, Index j) {
    const Grid& grid = stages_.front().grid;
    conversions_.convert(from, static_cast<T>(scale), grid.columns(), row_.data());
    std::fill_n(row_.begin() + grid.columns(), 2 * most_lanes, C{});
    kernels_.split(row_.data(), grid.half_length(), grid.row(to, 0, i, j), grid.row(to, 1, i, j));
  }

  void add_row(const Field<C>& e, Values<T>& u, Index i, Index j) {
    const Grid& grid = stages_.front().grid;
    kernels_.join(grid.row(e, 0, i, j), grid.row(e, 1, i, j), grid.half_length(), row_.data());
    conversions_.add(row_.data(), static_cast<T>(operator_scale_ / scale_), grid.columns(), u.data() + offset(i, j));
  }

  void look_at(const T* row) {
    for (Index x = 0; x < stages_.front().grid.columns(); ++x) {
      largest_ = std::max(largest_, std::abs(static_cast<double>(row[x])));
    }
  }

  // For residuals of this size and much smaller ones. True where it has changed.
  bool set_scale(double largest) {
    constexpr double much = 1e6;
    largest = mpi::all_reduce(context_.comm(), largest, mpi::Operation::maximum());
    has_scale_ = true;
    if (!(largest > 0) || !std::isfinite(largest)) return false;
    if (largest * scale_ < much && largest * scale_ > 1 / much) return false;
    scale_ = 1 / power_of_two_near(largest);
    return true;
  }

  void correct(Values<T>& u, const Values<T>& b, krylov::Dots* dots) {
    Stage& stage = stages_.front();
    stage.grid.fill_ghosts(stage.u, 1);
    keep_residual(&stage.u, u, b, dots);
  }

  // u ← u + e, if there is one, and a plane behind that the residual.
  void keep_residual(const Field<C>* e, Values<T>& u, const Values<T>& b, krylov::Dots* dots) {
    Stage& stage = stages_.front();
    const Grid& grid = stage.grid;
    const Index n = grid.columns();
    const Range planes = grid.range(0, 1), rows = grid.range(1, 1);
    for (Index i = planes.low; i <= planes.high; ++i) {
      for (Index j = rows.low; e != nullptr && i < planes.high && j < rows.high; ++j) {
        add_row(*e, u, i, j);
        if (!grid.axes()[2].is_periodic()) continue;
        T* const row = u.data() + offset(i, j);
        row[-1] = row[n - 1];
        row[n] = row[0];
      }
      if (i - 1 < grid.own().low[0] || i - 1 >= grid.own().high[0]) continue;
      for (Index j = grid.own().low[1]; j < grid.own().high[1]; ++j) {
        finest_.residual(u, b, place(i - 1, j), n, wide_.data());
        if (dots != nullptr) {
          const std::span<const T> r = finest_.weighted(wide_.data(), offset(i - 1, j));
          dots->add<T>(0, r, r);
        }
        if (e == nullptr) look_at(wide_.data());
        load_row(wide_.data(), scale_, stage.b, i - 1, j);
      }
    }
    stage.grid.fill_ghosts(stage.b, 3);
  }

  // Cycles.

  void cycle(std::size_t number, Cycle kind, bool is_zero) {
    Stage& stage = stages_[number];
    if (number + 1 == stages_.size()) return coarsest_->solve(stages_.back().b, stages_.back().u);
    for (int i = 1; i < options_.sweeps_before; ++i) {
      sweep(stage, Grid::red, is_zero);
      is_zero = false;
    }
    descend(stage, stages_[number + 1], transfers_[number], is_zero);
    cycle(number + 1, kind, true);
    const bool is_again = kind == Cycle::w || (kind == Cycle::f && number > 0);
    if (is_again && number + 2 < stages_.size()) {
      cycle(number + 1, kind == Cycle::f ? Cycle::v : kind, false);
    }
    const auto first = kind == Cycle::symmetric ? Grid::black : Grid::red;
    transfers_[number].begin_interpolation(stages_[number + 1].u);
    ascend(stage, transfers_[number], first);
    for (int i = 1; i < options_.sweeps_after; ++i) sweep(stage, first, false);
  }

  static constexpr auto opposite(typename Grid::Colour colour) { return colour == Grid::red ? Grid::black : Grid::red; }

  void sweep(Stage& stage, typename Grid::Colour first, bool is_zero) {
    Grid& grid = stage.grid;
    if (!is_zero) grid.fill_ghosts(stage.u, 2);
    const Range planes = grid.range(0, 1), own = grid.range(0, 0);
    for (Index i = planes.low; i <= planes.high; ++i) {
      if (i < planes.high) grid.relax(first, i, 1, stage.u, stage.b, is_zero);
      if (i - 1 >= own.low && i - 1 < own.high) grid.relax(opposite(first), i - 1, 0, stage.u, stage.b);
    }
  }

  // A sweep, and the residual to the coarse level: that of black points, which come last, is what rounding makes of 0.
  // It counts beside a u that is much larger than the correction.
  void descend(Stage& fine, Stage& coarse, Transfer<C>& transfer, bool is_zero) {
    Grid& grid = fine.grid;
    if (!is_zero) grid.fill_ghosts(fine.u, 4);
    const Range red = grid.range(0, 3), black = grid.range(0, 2), residual = grid.range(0, 1), rows = grid.range(1, 1);
    const auto source = [&](Index i, Index j, Index half) {
      return !is_zero || half == Grid::half_of(Grid::red, i, j) ? fine.residual(half, i, j) : nullptr;
    };
    const Range to_make = transfer.planes();
    Index next = to_make.low;
    for (Index w = red.low; w < red.high + 3; ++w) {
      if (w < red.high) grid.relax(Grid::red, w, 3, fine.u, fine.b, is_zero);
      if (w - 1 >= black.low && w - 1 < black.high) grid.relax(Grid::black, w - 1, 2, fine.u, fine.b);
      const Index i = w - 2;
      if (i < residual.low || i >= residual.high) continue;
      C *const even = fine.residual(0, i, rows.low), *const odd = fine.residual(1, i, rows.low);
      grid.residual(Grid::red, i, fine.u, fine.b, even, odd);
      if (!is_zero) grid.residual(Grid::black, i, fine.u, fine.b, even, odd);
      while (next < to_make.high && transfer.last_plane_of(next) <= i)
        transfer.restrict_plane(next++, source, coarse.b);
    }
    transfer.end_restriction(coarse.b);
  }

  // The correction to the points of one colour, as those of the other one are relaxed next, and a sweep.
  void ascend(Stage& fine, Transfer<C>& transfer, typename Grid::Colour first) {
    Grid& grid = fine.grid;
    const Range corrected = grid.range(0, 2), one = grid.range(0, 1), own = grid.range(0, 0);
    for (Index w = corrected.low; w < corrected.high + 2; ++w) {
      if (w < corrected.high) transfer.interpolate_plane(opposite(first), w, 2, fine.u);
      if (w - 1 >= one.low && w - 1 < one.high) grid.relax(first, w - 1, 1, fine.u, fine.b);
      if (w - 2 >= own.low && w - 2 < own.high) grid.relax(opposite(first), w - 2, 0, fine.u, fine.b);
    }
  }

  // The correction by coarser levels alone, from the coarsest on, each improved by a V-cycle.
  void start() {
    for (std::size_t l = 0; l + 1 < stages_.size(); ++l) {
      transfers_[l].restrict_all(stages_[l].b, stages_[l + 1].b);
    }
    coarsest_->solve(stages_.back().b, stages_.back().u);
    for (std::size_t l = stages_.size() - 1; l-- > 0;) {
      Stage& fine = stages_[l];
      std::ranges::fill(fine.u.span(), C{});
      transfers_[l].begin_interpolation(stages_[l + 1].u);
      const Range own = fine.grid.range(0, 0);
      for (Index i = own.low; i < own.high; ++i) {
        transfers_[l].interpolate_plane(Grid::black, i, 0, fine.u);
        if (l == 0) transfers_[l].interpolate_plane(Grid::red, i, 0, fine.u);
      }
      if (l > 0) cycle(l, Cycle::v, false);
    }
  }

  mpi::Context& context_;
  MultigridOptions options_;
  Level<T>& finest_;
  std::array<std::size_t, layout::axes> order_;
  TransferKernels<C> kernels_;
  ConversionKernels<T, C> conversions_;
  double operator_scale_ = 1, scale_ = 1;  // powers of two that A and b are multiplied by
  bool has_scale_ = false;
  double largest_ = 0;
  std::deque<Stage> stages_;
  std::deque<Transfer<C>> transfers_;  // from each to the next
  std::optional<Coarsest<Grid>> coarsest_;
  std::vector<T> wide_;
  std::vector<C> row_;
};

}  // namespace

template <class T>
layout::BoxPartition Multigrid<T>::partition(const Axes& axes, const layout::BoxPartition& partition) {
  const int ranks = partition.ranks();
  const auto order = order_of(axes);
  const Axes of_grid = ordered(axes, order);
  if (is_last(of_grid)) return {partition.whole(), {1, 1, 1}, ranks};
  constexpr Index layers = ColouredGrid<float>::layers;
  if (has_rows(ordered(partition, order), layers)) return partition;
  // Orders are their own inverses.
  return ordered(partition_of_rows(box_of(of_grid), ranks, ranks, layers), order);
}

template <class T>
std::unique_ptr<Multigrid<T>> Multigrid<T>::make(mpi::Context& context, Level<T>& finest,
                                                 const MultigridOptions& options) {
  expect_at_least("sweeps_before", options.sweeps_before, 1);
  expect_at_least("sweeps_after", options.sweeps_after, 1);
  expect_at_least("cycles", options.cycles, 1);
  std::array<double, 2> extremes{1, 1};  // of k, and 1 / k
  if (finest.coefficient()) {
    extremes = {0, 0};
    finest.for_each_point([&](std::size_t place, const layout::Point&) {
      const auto k = static_cast<double>((*finest.coefficient())[place]);
      extremes = {std::max(extremes[0], k), std::max(extremes[1], 1 / k)};
    });
    mpi::all_reduce(context.comm(), std::span<double>(extremes), mpi::Operation::maximum());
  }
  constexpr double most_in_floats = 1e12;
  if (extremes[0] * extremes[1] > most_in_floats) {
    return std::make_unique<HierarchyOf<T, T>>(context, finest, options, extremes[0]);
  }
  return std::make_unique<HierarchyOf<T, float>>(context, finest, options, extremes[0]);
}

template class Multigrid<float>;
template class Multigrid<double>;

}  // namespace plait::poisson
