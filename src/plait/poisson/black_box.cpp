#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "plait/layout/box.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/poisson/elimination.hpp"
#include "plait/poisson/multigrid.hpp"
#include "plait/poisson/operator_transfer.hpp"
#include "plait/poisson/point_grid.hpp"
#include "plait/poisson/problem.hpp"

namespace plait::poisson {

namespace {

using layout::BoxPartition;
using layout::Point;

// Cycles are taken twice on so many levels. Jumps that coarse grids can't follow cost a V-cycle some of its gain on
// each level, and below these there is little work, but many messages.
constexpr std::size_t levels_taken_twice = 5;

// The equations of the finest grid, by stretches of points.
class FinestEquations {
 public:
  FinestEquations(mpi::Context& context, const Level& level) : level_(level) {
    std::array<double, 2> extremes{0, 0};  // of k, and 1 / k
    level.for_each_point([&](std::size_t, const Point& point) {
      for (std::size_t a = 0; a < layout::axes; ++a) {
        const double k = level.conductance(a, point) * level.axes()[a].distance_below(point[a]);
        if (k > 0) extremes = {std::max(extremes[0], k), std::max(extremes[1], 1 / k)};
      }
    });
    mpi::all_reduce(context.comm(), extremes, mpi::Operation::maximum());
    if (!(extremes[0] > 0)) return;
    constexpr double part = 1e-6;
    const bool has_little = level.has_outside() && !level.is_outside_given();
    if (has_little) little_ = part / extremes[1];
    contrast_ = extremes[0] * extremes[1] / (has_little ? part : 1);
    const double shortest = least_spacing(level.axes());
    scale_ = std::exp2(std::round(std::log2(shortest * shortest / extremes[0])));
  }

  [[nodiscard]] double contrast() const noexcept { return contrast_; }
  /// A power of two that they are multiplied by, so that the largest are near 1.
  [[nodiscard]] double scale() const noexcept { return scale_; }

  template <class Grid>
  [[nodiscard]] PointEquations<double> on(const Grid& grid) const {
    PointEquations<double> equations;
    Values& excess = equations[here];
    excess = grid.template zeros<double>();
    const auto takes_part = [&](const Point& point) { return !level_.is_outside_given() || level_.is_inside(point); };
    const auto has_next = [](const Axis& axis) {
      return axis.is_used() && !(axis.is_periodic() && axis.extent() == 1);
    };
    for (std::size_t a = 0; a < layout::axes; ++a) {
      Step step{};
      step[a] = 1;
      if (grid.is_used()[a]) equations[number_of(step)] = grid.template zeros<double>();
    }
    layout::for_each_point(grid.own(), [&](const Point& point) {
      if (!takes_part(point)) return;
      const auto place = at(grid.offset_of(point));
      const double stretch = scale_ * level_.stretch(point);
      for_each_next(point, [&](std::size_t a, std::size_t side, const Point& next, const Point& face) {
        const Axis& axis = level_.axes()[a];
        if (!has_next(axis)) return;
        const double c = stretch / axis.width(point[a]) * conductance(a, face);
        if (axis.within(next[a]) < 0 || !takes_part(next)) {
          excess[place] += c;
        } else if (side == 1) {
          Step step{};
          step[a] = 1;
          equations[number_of(step)][place] = -c;
        }
      });
    });
    return equations;
  }

 private:
  // Where nothing flows to a point outside, little does: then u there is near to what is around, and of use on coarse
  // grids, which tell A from this one by as little.
  [[nodiscard]] double conductance(std::size_t a, const Point& face) const {
    const double distance = level_.axes()[a].distance_below(face[a]);
    const bool takes_little = little_ > 0 && distance > 0 && !level_.flows(a, face);
    return takes_little ? little_ / distance : level_.conductance(a, face);
  }

  const Level& level_;
  double little_ = 0, contrast_ = 1, scale_ = 1;
};

template <class C>
class BlackBoxOf final : public Preconditioner {
  using Grid = PointGrid<C>;
  using Field = typename Grid::Field;

 public:
  BlackBoxOf(mpi::Context& context, Level& finest, const FinestEquations& of_finest, Index least_points_per_rank)
      : context_(context), finest_(finest), operator_scale_(of_finest.scale()) {
    std::array<bool, layout::axes> is_used{}, is_periodic{};
    std::array<double, layout::axes> spacing{};  // of the last stage
    for (std::size_t a = 0; a < layout::axes; ++a) {
      const Axis& axis = finest.axes()[a];
      is_used[a] = axis.is_used() && axis.extent() > 1;
      is_periodic[a] = is_used[a] && axis.is_periodic();
      spacing[a] = axis.spacing();
    }
    stages_.emplace_back(context, finest.partition(), is_used, is_periodic);
    PointEquations<double> equations = of_finest.on(stages_.front().grid);
    stages_.front().grid.set_equations(equations);
    while (add_coarser(spacing, equations, std::max<Index>(least_points_per_rank, 1))) {
    }
    for (Stage& stage : stages_) {
      for (Field* values : {&stage.u, &stage.b, &stage.r}) *values = stage.grid.zeros();
    }
    exact_.emplace(context, stages_.back().grid.partition(), is_used, is_periodic);
    exact_->set_equations(equations);
    coarsest_.emplace(*exact_);
  }

  void apply(const Values& b, Values& u) override {
    Stage& stage = stages_.front();
    if (scale_ == 0) {
      const double largest = finest_.largest_of(context_, b);
      scale_ = largest > 0 && std::isfinite(largest) ? std::exp2(-std::round(std::log2(largest))) : 1;
    }
    finest_.for_each_point([&](std::size_t place, const Point& point) {
      stage.grid.value(stage.b, point) = static_cast<C>(scale_ * finest_.stretch(point) * b[place]);
    });
    cycle(0, true);
    finest_.for_each_point([&](std::size_t place, const Point& point) {
      const auto e = static_cast<double>(stage.grid.value(stage.u, point));
      u[place] = finest_.is_inside(point) ? operator_scale_ / scale_ * e : 0;
    });
  }

 private:
  struct Stage {
    template <class... Arguments>
    explicit Stage(Arguments&&... arguments) : grid(std::forward<Arguments>(arguments)...) {}
    Grid grid;
    Field u, b, r;
  };

  // Whether there is one.
  bool add_coarser(std::array<double, layout::axes>& spacing, PointEquations<double>& equations,
                   Index least_points_per_rank) {
    Grid& fine = stages_.back().grid;
    const BoxPartition& partition = fine.partition();
    if (partition.whole().points() <= most_points_to_eliminate && partition.number_of_parts() == 1) return false;
    std::array<bool, layout::axes> can_be_halved{};
    for (std::size_t a = 0; a < layout::axes; ++a) {
      can_be_halved[a] = partition.whole().high[a] >= (fine.is_periodic()[a] ? 3 : 2);
    }
    layout::Coarsening how{near_least(spacing, can_be_halved)};
    for (std::size_t a = 0; a < layout::axes; ++a) {
      how.first[a] = how.halves[a] && !fine.is_periodic()[a] ? 1 : 0;
      if (how.halves[a]) spacing[a] *= 2;
    }
    const BoxPartition aligned = partition.coarsened(how);
    const Index points = aligned.whole().points();
    // Two points of an axis have a coarse one among them.
    constexpr Index least_length = 2;
    stages_.emplace_back(
        context_,
        coarse_partition(aligned, points <= most_points_to_eliminate ? 1 : points / least_points_per_rank,
                         least_length),
        fine.is_used(), fine.is_periodic());
    transfers_.emplace_back(context_, fine, equations, stages_.back().grid, aligned, how);
    return true;
  }

  void cycle(std::size_t number, bool is_zero) {
    Stage& stage = stages_[number];
    if (is_zero) std::ranges::fill(stage.u, C{});
    if (number + 1 == stages_.size()) {
      coarsest_->solve(stage.b, stage.u);
      return stage.grid.fill_ghosts(stage.u);
    }
    stage.grid.sweep(true, stage.u, stage.b);
    stage.grid.residual(stage.u, stage.b, stage.r);
    transfers_[number].restrict(stage.r, stages_[number + 1].b);
    cycle(number + 1, true);
    if (number < levels_taken_twice && number + 2 < stages_.size()) cycle(number + 1, false);
    transfers_[number].interpolate(stages_[number + 1].u, stage.u);
    stage.grid.fill_ghosts(stage.u);
    stage.grid.sweep(false, stage.u, stage.b);
  }

  mpi::Context& context_;
  Level& finest_;
  double operator_scale_, scale_ = 0;  // powers of two that A and b are multiplied by
  std::deque<Stage> stages_;
  std::deque<OperatorTransfer<C>> transfers_;
  std::optional<PointGrid<double>> exact_;  // the last one again
  std::optional<Coarsest<PointGrid<double>>> coarsest_;
};

}  // namespace

std::unique_ptr<Preconditioner> black_box(mpi::Context& context, Level& finest, Index least_points_per_rank) {
  const FinestEquations equations(context, finest);
  constexpr double most_contrast_of_floats = 1e5;  // beyond it their rounding costs more iterations than they save time
  if (equations.contrast() > most_contrast_of_floats) {
    return std::make_unique<BlackBoxOf<double>>(context, finest, equations, least_points_per_rank);
  }
  return std::make_unique<BlackBoxOf<float>>(context, finest, equations, least_points_per_rank);
}

}  // namespace plait::poisson
