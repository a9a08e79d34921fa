#include "plait/poisson/black_box.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plait/mpi/collectives.hpp"
#include "plait/poisson/problem.hpp"

namespace plait::poisson {

namespace {

using layout::BoxPartition;
using layout::Point;

constexpr Index most_points_to_eliminate = 32;
// Cycles are taken twice on so many levels. Jumps that coarse grids can't follow cost a V-cycle some of its gain on
// each level, and below these there is little work, but many messages.
constexpr std::size_t levels_taken_twice = 5;

}  // namespace

template <class T>
BlackBox<T>::BlackBox(mpi::Context& context, Level<T>& finest, Index least_points_per_rank)
    : context_(context), finest_(finest), least_points_per_rank_(std::max<Index>(least_points_per_rank, 1)) {
  std::array<bool, layout::axes> is_used{}, is_periodic{};
  for (std::size_t a = 0; a < layout::axes; ++a) {
    const Axis& axis = finest.axes()[a];
    is_used[a] = axis.is_used() && axis.extent() > 1;
    is_periodic[a] = is_used[a] && axis.is_periodic();
    spacing_[a] = axis.spacing();
  }
  stages_.emplace_back(context, finest.partition(), is_used, is_periodic);
  set_finest();
  while (add_coarser()) {
  }
  for (Stage& stage : stages_) {
    for (Values<T>* values : {&stage.u, &stage.b, &stage.r}) *values = stage.grid.zeros();
  }
  coarsest_.emplace(stages_.back().grid, is_singular(finest.axes()) && !finest.is_outside_given());
}

// Where nothing flows to a point outside, little does: then u there is near to what is around, and of use on coarse
// grids, which tell A from this one by as little.
template <class T>
double BlackBox<T>::conductance(std::size_t a, const Point& point) const {
  const Axis& axis = finest_.axes()[a];
  const auto inside = [&](Index place) {
    Point at_place = point;
    at_place[a] = place;
    return (!axis.is_periodic() && (place < 0 || place >= axis.extent())) || finest_.is_inside(at_place);
  };
  if (!finest_.has_outside() || finest_.is_outside_given() || (inside(point[a] - 1) && inside(point[a]))) {
    return finest_.conductance(a, point);
  }
  const double distance = axis.distance_below(point[a]);
  return distance > 0 ? little_ / distance : 0;
}

template <class T>
void BlackBox<T>::set_finest() {
  if (finest_.has_outside() && !finest_.is_outside_given()) {
    double least = INFINITY;
    finest_.for_each_point([&](std::size_t, const Point& point) {
      for (std::size_t a = 0; a < layout::axes; ++a) {
        const double k = finest_.conductance(a, point) * finest_.axes()[a].distance_below(point[a]);
        if (k > 0) least = std::min(least, k);
      }
    });
    constexpr double part = 1e-6;
    little_ = part * mpi::all_reduce(context_.comm(), least, mpi::Operation::minimum());
    if (!std::isfinite(little_)) little_ = 0;
  }
  Grid& grid = stages_.front().grid;
  std::array<Values<T>, Grid::steps> equations;
  Values<T>& diagonal = equations[Grid::here];
  diagonal = grid.zeros();
  double largest = 0;
  for (std::size_t a = 0; a < layout::axes; ++a) {
    const Axis& axis = finest_.axes()[a];
    if (!axis.is_used() || (axis.is_periodic() && axis.extent() == 1)) continue;
    typename Grid::Step step{};
    step[a] = 1;
    Values<T>& off_diagonal = equations[Grid::number(step)];
    if (grid.is_used()[a]) off_diagonal = grid.zeros();
    const auto takes_part = [&](const Point& point) { return !finest_.is_outside_given() || finest_.is_inside(point); };
    layout::for_each_point(grid.own(), [&](const Point& point) {
      if (!takes_part(point)) return;
      Point above = point;
      ++above[a];
      const auto here = at(grid.offset_of(point));
      const auto area = static_cast<T>(finest_.stretch(point) / axis.width(point[a]));
      const T c = static_cast<T>(conductance(a, above));
      diagonal[here] += area * (static_cast<T>(conductance(a, point)) + c);
      const bool is_side = !axis.is_periodic() && above[a] == axis.extent();
      if (!is_side && takes_part(above)) off_diagonal[here] = -area * c;
    });
  }
  for (const T value : diagonal) largest = std::max(largest, static_cast<double>(value));
  largest = mpi::all_reduce(context_.comm(), largest, mpi::Operation::maximum());
  if (largest > 0) scale_ = std::exp2(-std::round(std::log2(largest)));
  for (Values<T>& values : equations) {
    for (T& value : values) value *= static_cast<T>(scale_);
  }
  grid.set_equations(std::move(equations));
}

template <class T>
bool BlackBox<T>::add_coarser() {
  Grid& fine = stages_.back().grid;
  const BoxPartition& partition = fine.partition();
  if (partition.whole().points() <= most_points_to_eliminate && partition.number_of_parts() == 1) return false;
  std::array<bool, layout::axes> can_be_halved{};
  for (std::size_t a = 0; a < layout::axes; ++a) {
    can_be_halved[a] = partition.whole().high[a] >= (fine.is_periodic()[a] ? 3 : 2);
  }
  layout::Coarsening how{near_least(spacing_, can_be_halved)};
  for (std::size_t a = 0; a < layout::axes; ++a) {
    how.first[a] = how.halves[a] && !fine.is_periodic()[a] ? 1 : 0;
    if (how.halves[a]) spacing_[a] *= 2;
  }
  const BoxPartition aligned = partition.coarsened(how);
  const layout::Box whole = aligned.whole();
  const Index wanted = whole.points() <= most_points_to_eliminate ? 1 : whole.points() / least_points_per_rank_;
  // Two points of an axis have a coarse one among them.
  constexpr Index least_length = 2;
  stages_.emplace_back(context_, coarse_partition(aligned, wanted, least_length), fine.is_used(), fine.is_periodic());
  transfers_.emplace_back(context_, fine, stages_.back().grid, aligned, how);
  return true;
}

template <class T>
void BlackBox<T>::cycle(std::size_t number, bool is_zero) {
  Stage& stage = stages_[number];
  if (is_zero) std::ranges::fill(stage.u, T{});
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

template <class T>
void BlackBox<T>::apply(const Values<T>& b, Values<T>& u) {
  Stage& stage = stages_.front();
  finest_.for_each_point([&](std::size_t place, const Point& point) {
    stage.b[at(stage.grid.offset_of(point))] = static_cast<T>(finest_.stretch(point)) * b[place];
  });
  cycle(0, true);
  finest_.for_each_point([&](std::size_t place, const Point& point) {
    u[place] = finest_.is_inside(point) ? static_cast<T>(scale_) * stage.u[at(stage.grid.offset_of(point))] : T{};
  });
}

template class BlackBox<float>;
template class BlackBox<double>;

}  // namespace plait::poisson
