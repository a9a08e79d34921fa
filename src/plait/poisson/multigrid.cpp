#include "plait/poisson/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/poisson/coloured_grid.hpp"

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

}  // namespace

template <class T>
struct Multigrid<T>::Hierarchy {
  virtual ~Hierarchy() = default;
  virtual void begin(Values<T>& u, const Values<T>& b, krylov::Dots& dots) = 0;
  virtual void improve(Cycle kind, Values<T>& u, const Values<T>& b, krylov::Dots& dots) = 0;
  virtual void apply(Cycle kind, const Values<T>& b, Values<T>& u) = 0;
  [[nodiscard]] virtual int levels() const noexcept = 0;
  [[nodiscard]] virtual int parts(int level) const = 0;
};

namespace {

template <class T, class C>
class HierarchyOf final : public Multigrid<T>::Hierarchy {
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
    sums_.resize(2 * length);
    if (finest.coefficient()) {
      Field<C> k = grid.zeros();
      for_each_row(
          0, [&](Index i, Index j) { load_row(finest.coefficient()->data() + offset(i, j), 1 / k_unit, k, i, j); });
      grid.set_coefficient(std::move(k));
    }
    while (!is_last(stages_.back().grid.axes())) add_coarser(unit);
    factorize();
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
  struct Interpolation {
    std::array<Index, 2> from;
    std::array<C, 2> weight;
  };
  // How axis 0 or 1 of this rank's points hangs together with the next coarser level.
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
    // To the next coarser one: its points where the fine ones are, if these are elsewhere.
    std::array<Rows, 2> rows{};
    Columns columns{};
    layout::Box coarse{};
    std::optional<Grid> aligned{};
    Field<C> aligned_u{}, aligned_b{};
    std::optional<halo::Exchange> down{}, up{};
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
    const bool stays =
        aligned.number_of_parts() == 1 || (Grid::can_have(aligned) && wanted >= aligned.number_of_parts());
    const layout::BoxPartition partition =
        stays ? aligned : Grid::partition(axes, context_.size(), std::min<Index>(wanted, aligned.number_of_parts()));
    fine.coarse = aligned.box(context_.rank());
    fine.columns = columns_between(fine.grid.axes()[2], axes[2], how.halves[2]);
    for (std::size_t a = 0; a < 2; ++a) fine.rows[a] = rows_between(fine, axes[a], a, how.halves[a]);
    add_stage(axes, partition, unit);
    Stage& coarse = stages_.back();
    if (partition != aligned) {
      fine.aligned.emplace(context_, axes, aligned, unit);
      fine.aligned_u = fine.aligned->zeros();
      fine.aligned_b = fine.aligned->zeros();
      const Index pitch = coarse.grid.pitch();
      const auto from = Grid::of_rows(aligned, pitch), to = Grid::of_rows(partition, pitch);
      const std::array periodic{axes[0].is_periodic(), axes[1].is_periodic(), false};
      const layout::Point at_from = fine.aligned->ghost_layers(Grid::layers),
                          at_to = coarse.grid.ghost_layers(Grid::layers);
      const Index bytes = sizeof(C);
      fine.down.emplace(context_, halo::Filling{from, to, at_from, at_to, coarse.grid.ghost_layers(3), periodic}, bytes,
                        2, "coarse grid");
      fine.up.emplace(context_, halo::Filling{to, from, at_to, at_from, fine.aligned->ghost_layers(2), periodic}, bytes,
                      2, "coarse grid");
    }
    if (fine.grid.coefficient().size() > 0) {
      Field<C> k = coarse.grid.zeros();
      restrict_field(fine, coarse, fine.grid.coefficient(), k);
      coarse.grid.set_coefficient(std::move(k));
    }
  }

  [[nodiscard]] static layout::Coarsening coarsening(const Axes& axes) {
    layout::Coarsening how{axes_to_halve(axes)};
    for (std::size_t a = 0; a < layout::axes; ++a) how.first[a] = how.halves[a] ? axes[a].first_coarse() : 0;
    return how;
  }

  [[nodiscard]] Columns columns_between(const Axis& fine, const Axis& coarse, bool is_halved) const {
    Columns columns{is_halved, is_halved ? fine.taps() : 1};
    const auto length = at(std::max<Index>(fine.extent(), 1) + 2 * most_lanes);
    for (std::vector<C>& taps : columns.restriction) taps.assign(length, C{});
    for (std::size_t half = 0; half < 2; ++half) {
      columns.own[half].assign(length, C{});
      columns.other[half].assign(length, C{});
    }
    for (Index x = 0; is_halved && x < coarse.extent(); ++x) {
      const Axis::Taps taps = fine.restriction(coarse, x);
      for (std::size_t t = 0; t < 3; ++t) columns.restriction[t][at(x)] = static_cast<C>(taps[t]);
    }
    for (Index x = 0; x < fine.extent(); ++x) {
      const auto [own, other] = is_halved ? fine.interpolation(coarse, x) : Axis::Interpolation{1, 0};
      columns.own[at(x % 2)][at(x / 2)] = static_cast<C>(own);
      columns.other[at(x % 2)][at(x / 2)] = static_cast<C>(other);
    }
    return columns;
  }

  [[nodiscard]] Rows rows_between(const Stage& stage, const Axis& coarse, std::size_t a, bool is_halved) const {
    const Axis& fine = stage.grid.axes()[a];
    Rows rows{is_halved, is_halved ? fine.taps() : 1};
    for (Index i = stage.coarse.low[a]; i < stage.coarse.high[a]; ++i) {
      const Axis::Taps taps = is_halved ? fine.restriction(coarse, i) : Axis::Taps{1, 0, 0};
      for (std::size_t t = 0; t < 3; ++t) rows.restriction[t].push_back(static_cast<C>(taps[t]));
    }
    const Range range = stage.grid.range(a, 2);
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
    return rows;
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
        const std::span<const T> r(wide_.data(), at(n));
        if (dots != nullptr) dots->add<T>(0, r, r);
        if (e == nullptr) look_at(wide_.data());
        load_row(wide_.data(), scale_, stage.b, i - 1, j);
      }
    }
    stage.grid.fill_ghosts(stage.b, 3);
  }

  // Cycles.

  void cycle(std::size_t number, Cycle kind, bool is_zero) {
    Stage& stage = stages_[number];
    if (number + 1 == stages_.size()) return solve_coarsest();
    for (int i = 1; i < options_.sweeps_before; ++i) {
      sweep(stage, Grid::red, is_zero);
      is_zero = false;
    }
    descend(stage, stages_[number + 1], is_zero);
    cycle(number + 1, kind, true);
    const bool is_again = kind == Cycle::w || (kind == Cycle::f && number > 0);
    if (is_again && number + 2 < stages_.size()) {
      cycle(number + 1, kind == Cycle::f ? Cycle::v : kind, false);
    }
    const auto first = kind == Cycle::symmetric ? Grid::black : Grid::red;
    ascend(stage, stages_[number + 1], first);
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
  void descend(Stage& fine, Stage& coarse, bool is_zero) {
    Grid& grid = fine.grid;
    if (!is_zero) grid.fill_ghosts(fine.u, 4);
    const Range red = grid.range(0, 3), black = grid.range(0, 2), residual = grid.range(0, 1), rows = grid.range(1, 1);
    const Rows& between = fine.rows[0];
    Field<C>& to = fine.aligned ? fine.aligned_b : coarse.b;
    const auto source = [&](Index i, Index j, Index half) {
      return !is_zero || half == Grid::half_of(Grid::red, i, j) ? fine.residual(half, i, j) : nullptr;
    };
    Index next = fine.coarse.low[0];
    for (Index w = red.low; w < red.high + 3; ++w) {
      if (w < red.high) grid.relax(Grid::red, w, 3, fine.u, fine.b, is_zero);
      if (w - 1 >= black.low && w - 1 < black.high) grid.relax(Grid::black, w - 1, 2, fine.u, fine.b);
      const Index i = w - 2;
      if (i < residual.low || i >= residual.high) continue;
      C *const even = fine.residual(0, i, rows.low), *const odd = fine.residual(1, i, rows.low);
      grid.residual(Grid::red, i, fine.u, fine.b, even, odd);
      if (!is_zero) grid.residual(Grid::black, i, fine.u, fine.b, even, odd);
      const auto last = [&] {
        return between.is_halved ? std::min(2 * next + between.taps, grid.axes()[0].extent()) - 1 : next;
      };
      while (next < fine.coarse.high[0] && last() <= i) restrict_plane(fine, coarse, next++, source, to);
    }
    move_down(fine, coarse, to, coarse.b);
  }

  // Values of a fine grid, their ghosts filled, to the coarse level.
  void restrict_field(Stage& fine, Stage& coarse, const Field<C>& values, Field<C>& to) {
    Field<C>& aligned = fine.aligned ? fine.aligned_b : to;
    const auto source = [&](Index i, Index j, Index half) -> const C* { return fine.grid.row(values, half, i, j); };
    for (Index i = fine.coarse.low[0]; i < fine.coarse.high[0]; ++i) restrict_plane(fine, coarse, i, source, aligned);
    move_down(fine, coarse, aligned, to);
  }

  template <class Source>
  void restrict_plane(Stage& fine, Stage& coarse, Index i, const Source& source, Field<C>& to) {
    const Grid& target = fine.aligned ? *fine.aligned : coarse.grid;
    const Rows &zero = fine.rows[0], &one = fine.rows[1];
    const Columns& columns = fine.columns;
    const Index n = target.columns();
    for (Index j = fine.coarse.low[1]; j < fine.coarse.high[1]; ++j) {
      std::array<WeightedRows<C>, 2> rows;
      for (Index s = 0; s < zero.taps; ++s) {
        for (Index t = 0; t < one.taps; ++t) {
          const C weight =
              zero.restriction[at(s)][at(i - fine.coarse.low[0])] * one.restriction[at(t)][at(j - fine.coarse.low[1])];
          if (weight == 0) continue;
          const Index p = zero.is_halved ? 2 * i + s : i, q = one.is_halved ? 2 * j + t : j;
          for (Index half = 0; half < 2; ++half) {
            if (const C* const row = source(p, q, half)) rows[at(half)].add(row, weight);
          }
        }
      }
      if (!columns.is_halved) {
        for (Index half = 0; half < 2; ++half) {
          kernels_.sum(rows[at(half)], target.half_length(), target.row(to, half, i, j));
        }
        continue;
      }
      const auto& [t0, t1, t2] = columns.restriction;
      kernels_.restrict_row(rows[0], rows[1], {t0.data(), t1.data(), columns.taps == 3 ? t2.data() : nullptr}, n,
                            row_.data());
      std::fill_n(row_.begin() + n, 2 * most_lanes, C{});
      kernels_.split(row_.data(), target.half_length(), target.row(to, 0, i, j), target.row(to, 1, i, j));
    }
  }

  void move_down(Stage& fine, Stage& coarse, Field<C>& aligned, Field<C>& to) {
    if (!fine.aligned) return coarse.grid.fill_ghosts(to, 3);
    const std::array from = fine.aligned->halves(aligned, aligned), target = coarse.grid.halves(to, to);
    const std::array fields{halo::Field{from[0].source, target[0].target},
                            halo::Field{from[1].source, target[1].target}};
    (*fine.down)(fields);
    coarse.grid.wrap(to);
  }

  const Field<C>& moved_up(Stage& fine, Stage& coarse) {
    if (!fine.aligned) {
      coarse.grid.fill_ghosts(coarse.u, 2);
      return coarse.u;
    }
    const std::array from = coarse.grid.halves(coarse.u, coarse.u),
                     target = fine.aligned->halves(fine.aligned_u, fine.aligned_u);
    const std::array fields{halo::Field{from[0].source, target[0].target},
                            halo::Field{from[1].source, target[1].target}};
    (*fine.up)(fields);
    fine.aligned->wrap(fine.aligned_u);
    return fine.aligned_u;
  }

  // The correction to the points of one colour, as those of the other one are relaxed next, and a sweep.
  void ascend(Stage& fine, Stage& coarse, typename Grid::Colour first) {
    Grid& grid = fine.grid;
    const Field<C>& e = moved_up(fine, coarse);
    const Range corrected = grid.range(0, 2), one = grid.range(0, 1), own = grid.range(0, 0);
    for (Index w = corrected.low; w < corrected.high + 2; ++w) {
      if (w < corrected.high) interpolate_plane(fine, coarse, e, opposite(first), w, 2);
      if (w - 1 >= one.low && w - 1 < one.high) grid.relax(first, w - 1, 1, fine.u, fine.b);
      if (w - 2 >= own.low && w - 2 < own.high) grid.relax(opposite(first), w - 2, 0, fine.u, fine.b);
    }
  }

  void interpolate_plane(Stage& fine, const Stage& coarse, const Field<C>& e, typename Grid::Colour colour, Index i,
                         Index margin) {
    Grid& grid = fine.grid;
    const Grid& source = fine.aligned ? *fine.aligned : coarse.grid;
    const Columns& columns = fine.columns;
    const Range rows = grid.range(1, margin);
    const Interpolation& zero = fine.rows[0].interpolation[at(i - fine.rows[0].first)];
    constexpr Index before = 1;  // columns of coarse ghosts, in halves
    for (Index j = rows.low; j < rows.high; ++j) {
      const Interpolation& one = fine.rows[1].interpolation[at(j - fine.rows[1].first)];
      std::array<WeightedRows<C>, 2> from;
      for (std::size_t s = 0; s < 2; ++s) {
        for (std::size_t t = 0; t < 2; ++t) {
          const C weight = zero.weight[s] * one.weight[t];
          if (weight == 0) continue;
          for (Index half = 0; half < 2; ++half) {
            from[at(half)].add(source.row(e, half, zero.from[s], one.from[t]) - before, weight);
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
      if (columns.is_halved) {
        kernels_.join(even, odd, count, sums_.data());
        own.fill(sums_.data() + 2 * before);
        other = {own[0] - 1, own[1] + 1};
      }
      C* const u = grid.row(fine.u, half, i, j);
      kernels_.interpolate(columns.own[at(half)].data(), columns.other[at(half)].data(), own[at(half)], other[at(half)],
                           grid.half_length(), u);
      grid.for_each_wrapped([&](Index at_half, Index x, Index same_half, Index same_x) {
        if (at_half != half) return;
        const std::size_t h = at(same_half), place = at(same_x);
        u[x] += columns.own[h][place] * own[h][same_x] + columns.other[h][place] * other[h][same_x];
      });
    }
  }

  // The correction by coarser levels alone, from the coarsest on, each improved by a V-cycle.
  void start() {
    for (std::size_t l = 0; l + 1 < stages_.size(); ++l) {
      restrict_field(stages_[l], stages_[l + 1], stages_[l].b, stages_[l + 1].b);
    }
    solve_coarsest();
    for (std::size_t l = stages_.size() - 1; l-- > 0;) {
      Stage &fine = stages_[l], &coarse = stages_[l + 1];
      std::ranges::fill(fine.u.span(), C{});
      const Field<C>& e = moved_up(fine, coarse);
      const Range own = fine.grid.range(0, 0);
      for (Index i = own.low; i < own.high; ++i) {
        interpolate_plane(fine, coarse, e, Grid::black, i, 0);
        if (l == 0) interpolate_plane(fine, coarse, e, Grid::red, i, 0);
      }
      if (l > 0) cycle(l, Cycle::v, false);
    }
  }

  // Gaussian elimination with pivots, on the one rank that has the level. Where A has no inverse, since constants
  // change nothing, Σ width · u is added to each equation: its solution for a right side that has one is that of sum 0.
  void factorize() {
    Stage& stage = stages_.back();
    Grid& grid = stage.grid;
    const Axes& axes = grid.axes();
    const layout::Box whole = grid.partition().whole();
    const auto n = at(whole.points());
    const bool has_it = !grid.own().is_empty();
    bool is_singular = true;
    for (const Axis& axis : axes) {
      for (const Side side : axis.sides()) is_singular = is_singular && side != Side::value;
    }
    std::vector<double> a(has_it ? n * n : 0), volumes;
    const Field<C> none = grid.zeros();
    for_each_coarsest([&](std::size_t, Index i, Index j, Index x) {
      volumes.push_back(axes[0].width(i) * axes[1].width(j) * axes[2].width(x));
    });
    for (std::size_t k = 0; k < n; ++k) {
      std::ranges::fill(stage.u.span(), C{});
      if (has_it) {
        for_each_coarsest([&](std::size_t p, Index i, Index j, Index x) {
          if (p == k) grid.row(stage.u, x & 1, i, j)[x >> 1] = 1;
        });
      }
      grid.fill_ghosts(stage.u, 1);
      if (!has_it) continue;
      const Range planes = grid.range(0, 0), rows = grid.range(1, 1);
      for (Index i = planes.low; i < planes.high; ++i) {
        for (const auto colour : {Grid::red, Grid::black}) {
          grid.residual(colour, i, stage.u, none, stage.residual(0, i, rows.low), stage.residual(1, i, rows.low));
        }
        for_each_coarsest([&](std::size_t p, Index plane, Index j, Index x) {
          if (plane == i) a[p * n + k] = -static_cast<double>(stage.residual(x & 1, i, j)[x >> 1]);
        });
      }
    }
    std::ranges::fill(stage.u.span(), C{});
    if (!has_it) return;
    double scale = 0, volume = 0;
    for (std::size_t i = 0; i < n; ++i) scale = std::max(scale, a[i * n + i]), volume += volumes[i];
    if (scale == 0) scale = 1;
    for (std::size_t i = 0; is_singular && i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) a[i * n + k] += scale * volumes[k] / volume;
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

  template <class F>
  void for_each_coarsest(const F& f) const {
    const layout::Box whole = stages_.back().grid.partition().whole();
    std::size_t p = 0;
    for (Index i = 0; i < whole.high[0]; ++i) {
      for (Index j = 0; j < whole.high[1]; ++j) {
        for (Index x = 0; x < whole.high[2]; ++x) f(p++, i, j, x);
      }
    }
  }

  void solve_coarsest() {
    Stage& stage = stages_.back();
    const std::size_t n = pivots_.size();
    if (n == 0) return;
    std::vector<double> x(n);
    for_each_coarsest([&](std::size_t p, Index i, Index j, Index column) {
      x[p] = static_cast<double>(stage.grid.row(stage.b, column & 1, i, j)[column >> 1]);
    });
    for (std::size_t k = 0; k < n; ++k) std::swap(x[k], x[pivots_[k]]);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = k + 1; i < n; ++i) x[i] -= factors_[i * n + k] * x[k];
    }
    for (std::size_t k = n; k-- > 0;) {
      for (std::size_t c = k + 1; c < n; ++c) x[k] -= factors_[k * n + c] * x[c];
      x[k] /= factors_[k * n + k];
    }
    for_each_coarsest([&](std::size_t p, Index i, Index j, Index column) {
      stage.grid.row(stage.u, column & 1, i, j)[column >> 1] = static_cast<C>(x[p]);
    });
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
  std::vector<double> factors_;  // of the coarsest level, on the rank that has it
  std::vector<std::size_t> pivots_;
  std::vector<T> wide_;
  std::vector<C> row_, sums_;
};

}  // namespace

template <class T>
layout::BoxPartition Multigrid<T>::partition(const Axes& axes, const layout::BoxPartition& partition) {
  const int ranks = partition.ranks();
  const auto order = order_of(axes);
  const Axes of_grid = ordered(axes, order);
  if (is_last(of_grid)) return {partition.whole(), {1, 1, 1}, ranks};
  if (ColouredGrid<float>::can_have(ordered(partition, order))) return partition;
  // Orders are their own inverses.
  return ordered(ColouredGrid<float>::partition(of_grid, ranks, ranks), order);
}

template <class T>
Multigrid<T>::Multigrid(mpi::Context& context, Level<T>& finest, const MultigridOptions& options) {
  expect_at_least("sweeps_before", options.sweeps_before, 1);
  expect_at_least("sweeps_after", options.sweeps_after, 1);
  expect_at_least("cycles", options.cycles, 1);
  std::array<double, 2> extremes{1, 1};  // of k, and 1 / k
  if (finest.coefficient()) {
    extremes = {0, 0};
    finest.for_each_row([&](Index offset, Index, Index) {
      for (Index x = 0; x < finest.row_length(); ++x) {
        const auto k = static_cast<double>((*finest.coefficient())[at(offset + x)]);
        extremes = {std::max(extremes[0], k), std::max(extremes[1], 1 / k)};
      }
    });
    mpi::all_reduce(context.comm(), std::span<double>(extremes), mpi::Operation::maximum());
  }
  constexpr double most_in_floats = 1e12;
  if constexpr (std::is_same_v<T, double>) {
    if (extremes[0] * extremes[1] > most_in_floats) {
      hierarchy_ = std::make_unique<HierarchyOf<T, double>>(context, finest, options, extremes[0]);
      return;
    }
  }
  hierarchy_ = std::make_unique<HierarchyOf<T, float>>(context, finest, options, extremes[0]);
}

template <class T>
Multigrid<T>::Multigrid(Multigrid&&) noexcept = default;
template <class T>
Multigrid<T>& Multigrid<T>::operator=(Multigrid&&) noexcept = default;
template <class T>
Multigrid<T>::~Multigrid() = default;

template <class T>
void Multigrid<T>::begin(Values<T>& u, const Values<T>& b, krylov::Dots& dots) {
  hierarchy_->begin(u, b, dots);
}
template <class T>
void Multigrid<T>::improve(Cycle kind, Values<T>& u, const Values<T>& b, krylov::Dots& dots) {
  hierarchy_->improve(kind, u, b, dots);
}
template <class T>
void Multigrid<T>::apply(Cycle kind, const Values<T>& b, Values<T>& u) {
  hierarchy_->apply(kind, b, u);
}
template <class T>
int Multigrid<T>::levels() const noexcept {
  return hierarchy_->levels();
}
template <class T>
int Multigrid<T>::parts(int level) const {
  return hierarchy_->parts(level);
}

template class Multigrid<float>;
template class Multigrid<double>;

}  // namespace plait::poisson
