#include "plait/poisson/black_box.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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
    for (Index i = 0; i < axis.extent(); ++i) {
      stretches_[a].push_back(axis.is_used() ? axis.width(i) / axis.spacing() : 1);
    }
  }
  stages_.emplace_back(context, finest.partition(), is_used, is_periodic);
  set_finest();
  while (add_coarser()) {
  }
  for (Stage& stage : stages_) {
    for (Values<T>* values : {&stage.u, &stage.b, &stage.r}) *values = stage.grid.zeros();
  }
  factorize();
}

// A point's stretch, in usual ones.
template <class T>
double BlackBox<T>::volume(const Point& point) const {
  return stretches_[0][at(point[0])] * stretches_[1][at(point[1])] * stretches_[2][at(point[2])];
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
    return finest_.conductance(static_cast<int>(a), point);
  }
  const double distance = axis.distance_below(point[a]);
  return distance > 0 ? little_ / distance : 0;
}

template <class T>
void BlackBox<T>::set_finest() {
  if (finest_.has_outside() && !finest_.is_outside_given()) {
    double least = INFINITY;
    finest_.for_each_row([&](Index, Index i, Index j) {
      for (Index x = 0; x < finest_.row_length(); ++x) {
        for (std::size_t a = 0; a < layout::axes; ++a) {
          const Point point{i, j, x};
          const double k = finest_.conductance(static_cast<int>(a), point) * finest_.axes()[a].distance_below(point[a]);
          if (k > 0) least = std::min(least, k);
        }
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
    if (!grid.is_used()[a]) {  // one point, with sides
      grid.for_each_row([&](Index row, Index i, Index j) {
        for (Index x = 0; x < grid.row_length(); ++x) {
          Point point{i, j, x};
          double c = conductance(a, point);
          ++point[a];
          c += conductance(a, point);
          diagonal[at(row + x)] += static_cast<T>(volume({i, j, x}) / axis.width(0) * c);
        }
      });
      continue;
    }
    const Index next = grid.distance(step);
    Values<T> below = grid.zeros();
    layout::Box faces = grid.own();
    if (!faces.is_empty()) ++faces.high[a];
    for (Index i = faces.low[0]; i < faces.high[0]; ++i) {
      for (Index j = faces.low[1]; j < faces.high[1]; ++j) {
        const Index row = grid.offset_of({i, j, 0});
        for (Index x = 0; x < faces.high[2]; ++x) below[at(row + x)] = static_cast<T>(conductance(a, {i, j, x}));
      }
    }
    Values<T>& above = equations[Grid::number(step)];
    above = grid.zeros();
    grid.for_each_row([&](Index row, Index i, Index j) {
      for (Index x = 0; x < grid.row_length(); ++x) {
        const Point point{i, j, x};
        Point other = point;
        ++other[a];
        const bool is_side = !axis.is_periodic() && other[a] == axis.extent();
        const bool takes_part = !finest_.is_outside_given() || finest_.is_inside(point);
        const auto area = static_cast<T>(volume(point) / axis.width(point[a]));
        const T c = below[at(row + x + next)];
        if (takes_part) diagonal[at(row + x)] += area * (below[at(row + x)] + c);
        if (takes_part && !is_side && (!finest_.is_outside_given() || finest_.is_inside(other))) {
          above[at(row + x)] = -area * c;
        }
      }
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
  bool stays = aligned.number_of_parts() <= std::max<Index>(wanted, 1);
  for (const std::vector<Index>& splits : aligned.splits()) {
    for (std::size_t p = 0; splits.size() > 2 && p + 1 < splits.size(); ++p) {
      stays = stays && splits[p + 1] - splits[p] >= least_length;
    }
  }
  BoxPartition coarse = aligned;
  if (!stays) {
    BoxPartition::Parts parts{1, 1, 1};
    const std::size_t longest = whole.high[0] >= whole.high[1] ? 0 : 1;
    const Index most = std::min<Index>(whole.high[longest] / least_length, partition.ranks());
    parts[longest] = static_cast<int>(std::clamp<Index>(wanted, 1, std::max<Index>(most, 1)));
    coarse = {whole, parts, partition.ranks()};
  }
  stages_.emplace_back(context_, coarse, fine.is_used(), fine.is_periodic());
  transfers_.emplace_back(context_, fine, stages_.back().grid, aligned, how);
  return true;
}

template <class T>
void BlackBox<T>::factorize() {
  const Grid& grid = stages_.back().grid;
  if (grid.own().is_empty()) return;
  const layout::Box& box = grid.own();
  const std::size_t n = at(box.points());
  std::vector<double>& a = factors_;
  a.assign(n * n, 0);
  grid.for_each_row([&](Index, Index i, Index j) {
    for (Index x = 0; x < grid.row_length(); ++x) {
      const Point point{i, j, x};
      for (std::size_t s = 0; s < Grid::steps; ++s) {
        if (!grid.has(s)) continue;
        Point next{};
        bool is_there = true;
        for (std::size_t d = 0; d < layout::axes; ++d) {
          next[d] = point[d] + Grid::step(s)[d];
          if (grid.is_periodic()[d]) next[d] = (next[d] + box.high[d]) % box.high[d];
          is_there = is_there && next[d] >= 0 && next[d] < box.high[d];
        }
        if (!is_there) continue;
        a[at(box.offset_of(point)) * n + at(box.offset_of(next))] +=
            static_cast<double>(*grid.coefficients(s, grid.offset_of(point)));
      }
    }
  });
  // A pivot that is nothing but rounding belongs to a constant, which is left out; that of all points is the last one.
  const bool is_free = is_singular(finest_.axes()) && !finest_.is_outside_given();
  constexpr double nothing = 512 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (std::size_t k = 0; k < n; ++k) {
    const double whole = a[k * n + k];
    for (std::size_t c = 0; c < k; ++c) a[k * n + k] -= a[k * n + c] * a[k * n + c] * a[c * n + c];
    double& pivot = a[k * n + k];
    if (!(pivot > nothing * whole) || (is_free && k + 1 == n)) pivot = 0;
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t c = 0; c < k; ++c) a[i * n + k] -= a[i * n + c] * a[k * n + c] * a[c * n + c];
      a[i * n + k] = pivot > 0 ? a[i * n + k] / pivot : 0;
    }
  }
}

template <class T>
void BlackBox<T>::solve(const Values<T>& b, Values<T>& u) const {
  const Grid& grid = stages_.back().grid;
  if (grid.own().is_empty()) return;
  const std::size_t n = at(grid.own().points());
  std::vector<double> x;
  grid.for_each_row([&](Index offset, Index, Index) {
    x.insert(x.end(), b.begin() + offset, b.begin() + offset + grid.row_length());
  });
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= factors_[i * n + k] * x[k];
  }
  for (std::size_t i = 0; i < n; ++i) x[i] = factors_[i * n + i] > 0 ? x[i] / factors_[i * n + i] : 0;
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= factors_[k * n + i] * x[k];
  }
  auto from = x.begin();
  grid.for_each_row([&](Index offset, Index, Index) {
    for (Index column = 0; column < grid.row_length(); ++column) u[at(offset + column)] = static_cast<T>(*from++);
  });
}

template <class T>
void BlackBox<T>::cycle(std::size_t number, bool is_zero) {
  Stage& stage = stages_[number];
  if (is_zero) std::ranges::fill(stage.u, T{});
  if (number + 1 == stages_.size()) {
    solve(stage.b, stage.u);
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
  stage.grid.for_each_row([&](Index offset, Index i, Index j) {
    const Index from = finest_.offset_of({i, j, 0});
    for (Index x = 0; x < stage.grid.row_length(); ++x) {
      stage.b[at(offset + x)] = static_cast<T>(volume({i, j, x})) * b[at(from + x)];
    }
  });
  cycle(0, true);
  stage.grid.for_each_row([&](Index offset, Index i, Index j) {
    const Index to = finest_.offset_of({i, j, 0});
    for (Index x = 0; x < stage.grid.row_length(); ++x) {
      u[at(to + x)] = finest_.is_inside({i, j, x}) ? static_cast<T>(scale_) * stage.u[at(offset + x)] : T{};
    }
  });
}

template class BlackBox<float>;
template class BlackBox<double>;

}  // namespace plait::poisson
