#include "plait/poisson/multigrid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/base/timeline.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/poisson/coloured_grid.hpp"
#include "plait/poisson/elimination.hpp"
#include "plait/poisson/problem.hpp"
#include "plait/poisson/transfer.hpp"

namespace plait::poisson {

namespace {

std::array<bool, layout::axes> axes_to_halve(const Axes& axes) {
  return near_least({axes[0].spacing(), axes[1].spacing(), axes[2].spacing()}, can_be_halved(axes));
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
class HierarchyOf final : public Multigrid {
  using Grid = ColouredGrid<C>;
  using Field = typename Grid::Field;

 public:
  HierarchyOf(mpi::Context& context, Level& finest, Cycle kind, const MultigridOptions& options, double largest_k)
      : context_(context), kind_(kind), options_(options), finest_(finest), order_(order_of(finest.axes())) {
    const double unit = power_of_two_near(least_spacing(finest.axes())), k_unit = power_of_two_near(largest_k);
    operator_scale_ = unit * unit / k_unit;
    stages_.emplace_back(context_, ordered(finest.axes(), order_), ordered(finest.partition(), order_), unit);
    Grid& grid = stages_.front().grid;
    wide_.resize(at(grid.columns() + most_lanes));
    row_.resize(at(2 * grid.pitch() + 2 * most_lanes));
    if (finest.coefficient()) {
      Field k = grid.zeros();
      for_each_row(
          [&](Index i, Index j) { load_row(finest.coefficient()->data() + offset(i, j), 1 / k_unit, k, i, j); });
      grid.set_coefficient(std::move(k));
    }
    while (!is_last(stages_.back().grid.axes())) add_coarser(unit);
    for (Stage& stage : stages_) {
      if (has_jacobi()) stage.other = stage.grid.zeros();
    }
    coarsest_.emplace(stages_.back().grid);
  }

  void begin(Values& u, const Values& b, krylov::Dots& dots) override {
    finest_.exchange(u);
    is_kept_ = true;
    double largest_here = 0;
    for_each_row([&](Index i, Index j) {
      keep_residual(u, b, i, j, &dots);
      largest_here = std::max(largest_here, largest({wide_.data(), at(stages_.front().grid.columns())}));
    });
    if (set_scale(largest_here)) for_each_row([&](Index i, Index j) { keep_residual(u, b, i, j, nullptr); });
  }

  void begin_at_zero(const Values& b, double largest, krylov::Dots& dots) override {
    set_scale(largest);
    is_kept_ = true;
    for_each_row([&](Index i, Index j) {
      const double* const row = b.data() + offset(i, j);
      const std::span<const double> r = finest_.weighted(row, offset(i, j));
      dots.add<double>(0, r, r);
      load_row(row, scale_, stages_.front().b, i, j);
    });
  }

  void improve(Values& u, const Values& b, krylov::Dots& dots) override {
    const bool is_full = kind_ == Cycle::full;
    if (!std::exchange(is_kept_, true)) {
      for_each_row([&](Index i, Index j) { keep_residual(u, b, i, j, nullptr); });
    }
    if (is_full && stages_.size() > 1) start(u, b);
    Stage& stage = stages_.front();
    Grid& grid = stage.grid;
    grid.begin_filling(stage.b, 3);
    for (int i = 0; i < (is_full ? 1 : options_.cycles); ++i) cycle(0, is_full ? Cycle::v : kind_, i == 0);
    is_kept_ = !is_full;  // which most often ends here
    grid.begin_filling(stage.u, 1);
    correct(grid, 0, u, b, &dots, [&](Index i, Index j) {
      return std::array<const C*, 2>{grid.row(stage.u, 0, i, j), grid.row(stage.u, 1, i, j)};
    });
  }

  void apply(const Values& b, Values& u) override {
    Stage& stage = stages_.front();
    if (!has_scale_) set_scale(finest_.largest_of(context_, b));
    for_each_row([&](Index i, Index j) { load_row(b.data() + offset(i, j), scale_, stage.b, i, j); });
    stage.grid.begin_filling(stage.b, 3);
    cycle(0, kind_, true);
    std::ranges::fill(u, 0);
    for_each_row([&](Index i, Index j) {
      add_row({stage.grid.row(stage.u, 0, i, j), stage.grid.row(stage.u, 1, i, j)}, u, i, j);
    });
  }

 private:
  struct Stage {
    Stage(mpi::Context& context, const Axes& axes, const layout::BoxPartition& partition, double unit)
        : grid(context, axes, partition, unit) {
      u = grid.zeros();
      b = grid.zeros();
      r.resize(at(8 * plane() + most_lanes));
    }
    [[nodiscard]] Index plane() const {
      const Range rows = grid.range(1, 1);
      return (rows.high - rows.low) * grid.pitch();
    }
    // The residuals of four planes.
    [[nodiscard]] C* residual(Index half, Index i, Index j) {
      return r.data() + ((i & 3) * 2 + half) * plane() + (j - grid.range(1, 1).low) * grid.pitch();
    }

    Field u, b;
    Field other;  // of Jacobi's iteration: the old u, and a residual
    std::vector<C> r;
    std::array<Index, 4> planes{};  // which they are
    Grid grid;                      // last, as fields are there while ghosts are on their way
  };

  void add_coarser(double unit) {
    Stage& fine = stages_.back();
    const auto [axes, how] = Coarser(fine.grid.axes(), axes_to_halve(fine.grid.axes()));
    const layout::BoxPartition aligned = fine.grid.partition().coarsened(how);
    const Index wanted =
        is_last(axes) ? 1 : aligned.whole().points() / std::max<Index>(options_.least_points_per_rank, 1);
    stages_.emplace_back(context_, axes, coarse_partition(aligned, wanted, Grid::layers), unit);
    Stage& coarse = stages_.back();
    Transfer<C>& transfer = transfers_.emplace_back(context_, fine.grid, coarse.grid, aligned, how.halves, unit);
    if (fine.grid.coefficient().size() > 0) {
      Field k = coarse.grid.zeros();
      transfer.restrict_all(fine.grid.coefficient(), k);
      coarse.grid.set_coefficient(std::move(k));
    }
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
  void for_each_row(const F& f) const {
    layout::for_each_row(stages_.front().grid.own(), [&](const layout::Point& row) { f(row[0], row[1]); });
  }

  void load_row(const double* from, double scale, Field& to, Index i, Index j) {
    const Grid& grid = stages_.front().grid;
    kernels_.split(from, scale, grid.columns(), grid.row(to, 0, i, j), grid.row(to, 1, i, j));
  }

  void add_row(const std::array<const C*, 2>& halves, Values& u, Index i, Index j) {
    kernels_.add(halves[0], halves[1], operator_scale_ / scale_, stages_.front().grid.columns(),
                 u.data() + offset(i, j));
  }

  // For residuals of this size and much smaller ones. True where it has changed.
  bool set_scale(double size) {
    constexpr double much = 1e6;
    size = mpi::all_reduce(context_.comm(), size, mpi::Operation::maximum());
    has_scale_ = true;
    if (!(size > 0) || !std::isfinite(size)) return false;
    if (size * scale_ < much && size * scale_ > 1 / much) return false;
    scale_ = 1 / power_of_two_near(size);
    return true;
  }

  void keep_residual(const Values& u, const Values& b, Index i, Index j, krylov::Dots* dots) {
    finest_.residual(u, b.data() + offset(i, j), place(i, j), stages_.front().grid.columns(), wide_.data());
    if (dots != nullptr) {
      const std::span<const double> r = finest_.weighted(wide_.data(), offset(i, j));
      dots->add<double>(0, r, r);
    }
    if (is_kept_) load_row(wide_.data(), scale_, stages_.front().b, i, j);
  }

  // u ← u + e, and a plane behind that the residual. `halves`(i, j) has those of e in a row; arguments are as in
  // `pass`.
  template <class Halves>
  void correct(Grid& sender, Index taken, Values& u, const Values& b, krylov::Dots* dots, const Halves& halves) {
    Grid& grid = stages_.front().grid;
    const Index n = grid.columns();
    const Range rows = grid.range(1, 1);
    const auto add = [&](Index i) {
      for (Index j = rows.low; j < rows.high; ++j) {
        add_row(halves(i, j), u, i, j);
        if (!grid.axes()[2].is_periodic()) continue;
        double* const row = u.data() + offset(i, j);
        row[-1] = row[n - 1];
        row[n] = row[0];
      }
    };
    const auto find = [&](Index i) {
      for (Index j = grid.own().low[1]; j < grid.own().high[1]; ++j) keep_residual(u, b, i, j, dots);
    };
    pass(grid, sender, 1, taken, add, find);
  }

  template <class... Steps>
  void pass(Grid& grid, Grid& sender, Index first, Index taken, const Steps&... steps) {
    TimedComputation timed(context_.timeline(), "pass", ++passes_);
    grid.pass(timed, sender, first, taken, steps...);
  }

  [[nodiscard]] bool has_jacobi() const noexcept { return options_.smoother == Smoother::jacobi; }

  // Each colour from the old values of the other one: red in place, black in a copy.
  void sweep_by_jacobi(Stage& stage, bool is_zero) {
    constexpr auto weight = static_cast<C>(0.8);
    Grid& grid = stage.grid;
    Field& u = stage.u;
    Field& other = stage.other;
    if (is_zero) {
      std::ranges::fill(u, C{});
    } else {
      grid.fill_ghosts(u, 1);
    }
    std::ranges::copy(u, other.begin());
    const Range planes_here = grid.range(0, 0);
    for (Index i = planes_here.low; i < planes_here.high; ++i) {
      grid.relax(red, i, 0, u, stage.b);
      grid.relax(black, i, 0, other, stage.b);
    }
    layout::for_each_row(grid.own(), [&](const layout::Point& row) {
      for (const Colour colour : {red, black}) {
        const Index half = Grid::half_of(colour, row[0], row[1]);
        const C of_u = colour == red ? weight : 1 - weight;
        C* const to = grid.row(u, half, row[0], row[1]);
        const C* const from = grid.row(other, half, row[0], row[1]);
        for (Index x = 0; x < grid.half_length(); ++x) to[x] = of_u * to[x] + (1 - of_u) * from[x];
      }
    });
  }

  void sweep(Stage& stage, Colour first, bool is_zero) {
    if (has_jacobi()) return sweep_by_jacobi(stage, is_zero);
    Grid& grid = stage.grid;
    constexpr Index taken = 2;
    if (!is_zero) grid.begin_filling(stage.u, taken);
    pass(
        grid, grid, 1, is_zero ? 0 : taken,  //
        [&](Index i) { grid.relax(first, i, 1, stage.u, stage.b, is_zero); },
        [&](Index i) { grid.relax(opposite(first), i, 0, stage.u, stage.b); });
  }

  // A sweep, and the residual to the coarse level: that of black points, which come last, is what rounding makes of 0.
  // It counts beside a u that is much larger than the correction.
  void descend(Stage& fine, Stage& coarse, Transfer<C>& transfer, bool is_zero) {
    Grid& grid = fine.grid;
    if (has_jacobi()) {
      sweep_by_jacobi(fine, is_zero);
      grid.fill_ghosts(fine.u, 2);
      grid.residual(fine.u, fine.b, fine.other);
      grid.fill_ghosts(fine.other, Grid::layers);
      return transfer.restrict_all(fine.other, coarse.b);
    }
    if (!is_zero) grid.begin_filling(fine.u, Grid::layers);
    const auto source = [&](Index i, Index j, Index half) {
      return !is_zero || half == Grid::half_of(red, i, j) ? fine.residual(half, i, j) : nullptr;
    };
    fine.planes.fill(std::numeric_limits<Index>::min());
    const auto find_residual = [&](Index i) {
      if (std::exchange(fine.planes[at(i & 3)], i) == i) return;
      const Index first = grid.range(1, 1).low;
      C *const even = fine.residual(0, i, first), *const odd = fine.residual(1, i, first);
      grid.residual(red, i, fine.u, fine.b, even, odd);
      if (!is_zero) grid.residual(black, i, fine.u, fine.b, even, odd);
    };
    pass(
        grid, grid, 3, is_zero ? 0 : Grid::layers,  //
        [&](Index i) { grid.relax(red, i, 3, fine.u, fine.b, is_zero); },
        [&](Index i) { grid.relax(black, i, 2, fine.u, fine.b); },  //
        [](Index) {},
        [&](Index i) {
          const std::optional<Index> plane = transfer.plane_at(i);
          if (!plane) return;
          const Range taken = transfer.taken_by(*plane);
          for (Index p = taken.low; p < taken.high; ++p) find_residual(p);
          transfer.restrict_plane(*plane, source, coarse.b);
        });
    transfer.end_restriction(coarse.b);
  }

  // The correction to the points of one colour, as those of the other one are relaxed next, and a sweep.
  void ascend(Stage& fine, Stage& coarse, Transfer<C>& transfer, Colour first) {
    Grid& grid = fine.grid;
    transfer.begin_interpolation(coarse.u);
    if (has_jacobi()) {
      interpolate(fine, coarse, transfer);
      return sweep_by_jacobi(fine, false);
    }
    pass(
        grid, coarse.grid, 2, 2,  //
        [&](Index i) { transfer.interpolate_plane(opposite(first), i, 2, fine.u); },
        [&](Index i) { grid.relax(first, i, 1, fine.u, fine.b); },
        [&](Index i) { grid.relax(opposite(first), i, 0, fine.u, fine.b); });
  }

  // To all points.
  void interpolate(Stage& fine, Stage& coarse, Transfer<C>& transfer) {
    pass(fine.grid, coarse.grid, 0, 2, [&](Index i) {
      for (const Colour colour : {red, black}) transfer.interpolate_plane(colour, i, 0, fine.u);
    });
  }

  void cycle(std::size_t number, Cycle kind, bool is_zero) {
    Stage& stage = stages_[number];
    if (number + 1 == stages_.size()) {
      stage.grid.finish_filling();
      return coarsest_->solve(stage.b, stage.u);
    }
    Stage& coarse = stages_[number + 1];
    for (int i = 1; i < options_.sweeps_before; ++i) {
      sweep(stage, red, is_zero);
      is_zero = false;
    }
    descend(stage, coarse, transfers_[number], is_zero);
    cycle(number + 1, kind, true);
    const bool is_again = kind == Cycle::w || (kind == Cycle::f && number > 0);
    if (is_again && number + 2 < stages_.size()) {
      cycle(number + 1, kind == Cycle::f ? Cycle::v : kind, false);
    }
    const Colour first = kind == Cycle::symmetric ? black : red;
    ascend(stage, coarse, transfers_[number], first);
    for (int i = 1; i < options_.sweeps_after; ++i) sweep(stage, first, false);
  }

  // The correction by coarser levels alone, from the coarsest on, each improved by a V-cycle.
  void start(Values& u, const Values& b) {
    stages_.front().grid.fill_ghosts(stages_.front().b, 3);
    for (std::size_t l = 0; l + 1 < stages_.size(); ++l) {
      transfers_[l].restrict_all(stages_[l].b, stages_[l + 1].b);
    }
    coarsest_->solve(stages_.back().b, stages_.back().u);
    for (std::size_t l = stages_.size() - 1; l-- > 0;) {
      Stage &fine = stages_[l], &coarse = stages_[l + 1];
      transfers_[l].begin_interpolation(coarse.u);
      constexpr Index taken = 2;
      if (l == 0) {
        C *const even = row_.data() + most_lanes, *const odd = even + fine.grid.pitch();
        return correct(coarse.grid, taken, u, b, nullptr, [&](Index i, Index j) {
          std::ranges::fill(row_, C{});
          transfers_[0].interpolate_row(i, j, {even, odd});
          return std::array<const C*, 2>{even, odd};
        });
      }
      pass(fine.grid, coarse.grid, 0, taken, [&](Index i) {
        fine.grid.clear(fine.u, i);
        transfers_[l].interpolate_plane(black, i, 0, fine.u);
        if (has_jacobi()) transfers_[l].interpolate_plane(red, i, 0, fine.u);
      });
      cycle(l, Cycle::v, false);
    }
  }

  mpi::Context& context_;
  Cycle kind_;
  MultigridOptions options_;
  Level& finest_;
  std::array<std::size_t, layout::axes> order_;
  const RowKernels<C>& kernels_ = row_kernels<C>();
  double operator_scale_ = 1, scale_ = 1;  // powers of two that A and b are multiplied by
  bool has_scale_ = false;
  bool is_kept_ = false;  // the residual, as b of the finest stage
  Index passes_ = 0;
  std::deque<Stage> stages_;
  std::deque<Transfer<C>> transfers_;  // from each to the next
  std::optional<Coarsest<Grid>> coarsest_;
  std::vector<double> wide_;
  std::vector<C> row_;
};

}  // namespace

layout::BoxPartition Multigrid::partition(const Axes& axes, const layout::BoxPartition& partition) {
  const int ranks = partition.ranks();
  const auto order = order_of(axes);
  const Axes of_grid = ordered(axes, order);
  if (is_last(of_grid)) return {partition.whole(), {1, 1, 1}, ranks};
  constexpr Index layers = ColouredGrid<float>::layers;
  if (has_rows(ordered(partition, order), layers)) return partition;
  // Orders are their own inverses.
  return ordered(partition_of_rows(box_of(of_grid), ranks, ranks, layers), order);
}

std::unique_ptr<Multigrid> Multigrid::make(mpi::Context& context, Equation& equation, Cycle kind,
                                           const MultigridOptions& options) {
  expect_at_least("sweeps_before", options.sweeps_before, 1);
  expect_at_least("sweeps_after", options.sweeps_after, 1);
  expect_at_least("cycles", options.cycles, 1);
  const auto [least_k, largest_k] = equation.extremes();
  constexpr double most_contrast_of_floats = 1e12;
  if (largest_k / least_k > most_contrast_of_floats) {
    return std::make_unique<HierarchyOf<double>>(context, equation.level(), kind, options, largest_k);
  }
  return std::make_unique<HierarchyOf<float>>(context, equation.level(), kind, options, largest_k);
}

}  // namespace plait::poisson
