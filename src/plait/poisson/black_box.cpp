#include "plait/poisson/black_box.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plait/mpi/collectives.hpp"

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
OperatorTransfer<T>::OperatorTransfer(mpi::Context& context, const Grid& fine, Grid& coarse,
                                      const BoxPartition& aligned, const layout::Coarsening& how)
    : fine_(fine), how_(how), aligned_(context, aligned, fine.is_used(), fine.is_periodic()) {
  for (std::size_t a = 0; a < layout::axes; ++a) find_places(a);
  find_weights();
  std::array<Values<T>, steps> equations = product();
  if (coarse.partition() == aligned) {
    coarse.set_equations(std::move(equations));
    return;
  }
  moved_ = aligned_.zeros();
  const Point ghosts = coarse.ghost_layers();
  const auto move = [&](const BoxPartition& from, const BoxPartition& to, const Point& width) {
    return halo::Filling{from, to, ghosts, ghosts, width, fine.is_periodic()};
  };
  down_.emplace(context, move(aligned, coarse.partition(), {}), Index{sizeof(T)}, 1, "coarse grid");
  up_.emplace(context, move(coarse.partition(), aligned, coarse.ghost_layers(1)), Index{sizeof(T)}, 1, "coarse grid");
  for (Values<T>& values : equations) {
    if (values.empty()) continue;
    Values<T> there = coarse.zeros();
    const halo::Field field{values.data(), there.data()};
    (*down_)(std::span(&field, 1));
    values = std::move(there);
  }
  coarse.set_equations(std::move(equations));
}

// Of coarse points, also those one beyond periodic sides.
template <class T>
void OperatorTransfer<T>::find_places(std::size_t axis) {
  const Index n = aligned_.partition().whole().high[axis], extent = fine_.partition().whole().high[axis];
  for (Index coarse = aligned_.own().low[axis] - 1; coarse <= aligned_.own().high[axis]; ++coarse) {
    const Index turns = fine_.is_periodic()[axis] ? (coarse < 0 ? -1 : coarse >= n ? 1 : 0) : 0;
    places_[axis].push_back(!how_.halves[axis] ? coarse : 2 * (coarse - turns * n) + how_.first[axis] + turns * extent);
  }
}

// Whether there is a fine point a step away, and it is no coarse one.
template <class T>
bool OperatorTransfer<T>::is_between(std::size_t axis, Index coarse, Index step) const {
  const Index fine = place(axis, coarse) + step;
  if (fine_.is_periodic()[axis]) return fine != place(axis, coarse + step);
  return fine >= 0 && fine < fine_.partition().whole().high[axis];
}

template <class T>
auto OperatorTransfer<T>::runs(std::size_t axis) const -> std::vector<Run> {
  const Index low = aligned_.own().low[axis], high = aligned_.own().high[axis];
  const Index n = aligned_.partition().whole().high[axis];
  std::vector<Run> runs;
  const auto add = [&](Index begin, Index end) {
    begin = std::max(begin, low);
    end = std::min(end, high);
    if (begin >= end) return;
    Run& run = runs.emplace_back(Run{begin, end, {}});
    const Index reach = how_.halves[axis] ? 1 : 0, around = fine_.is_used()[axis] ? 1 : 0;
    for (Index coarse = -around; coarse <= around; ++coarse) {
      for (Index from = -reach; from <= reach; ++from) {
        for (Index to = -reach; to <= reach; ++to) {
          const Index fine = place(axis, begin + coarse) + to - place(axis, begin) - from;
          if (fine >= -1 && fine <= 1) run.ways.push_back({coarse, from, to, fine});
        }
      }
    }
  };
  // Round an axis of odd extent the first and the last coarse point are next to each other.
  add(0, 1);
  add(1, std::max<Index>(n - 1, 1));
  add(std::max<Index>(n - 1, 1), n);
  return runs;
}

template <class T>
void OperatorTransfer<T>::find_weights() {
  for (std::size_t count = 0; count <= layout::axes; ++count) {
    for (std::size_t s = 0; s < steps; ++s) {
      const auto step = Grid::step(s);
      std::size_t moves = 0;
      bool can_be = true;
      for (std::size_t a = 0; a < layout::axes; ++a) {
        moves += step[a] != 0 ? 1U : 0U;
        can_be = can_be && (step[a] == 0 || how_.halves[a]);
      }
      if (moves == count && can_be) weights_[s] = weights(s);
    }
  }
  for (Values<T>& values : weights_) {
    if (!values.empty()) aligned_.fill_ghosts(values);
  }
}

// By the equations of the fine points that are this step from coarse ones. What is across is taken to be alike; what is
// nearer to the coarse point has its weight already.
template <class T>
Values<T> OperatorTransfer<T>::weights(std::size_t number) const {
  const auto step = Grid::step(number);
  Values<T> result = aligned_.zeros();
  struct Part {
    std::size_t step;
    bool is_own;      // counts as the point itself
    const T* weight;  // of the coarse point there; null: it has none
  };
  std::vector<Part> parts;
  for (std::size_t s = 0; s < steps; ++s) {
    if (!fine_.has(s)) continue;
    const auto to = Grid::step(s);
    auto nearer = step;
    bool is_own = true, comes_nearer = true;
    for (std::size_t a = 0; a < layout::axes; ++a) {
      if (step[a] == 0 || to[a] == 0) continue;
      is_own = false;
      comes_nearer = comes_nearer && to[a] == -step[a];
      nearer[a] = 0;
    }
    parts.push_back({s, is_own, is_own || !comes_nearer ? nullptr : weights_[Grid::number(nearer)].data()});
  }
  const Index n = aligned_.row_length(), stride = how_.halves[2] ? 2 : 1;
  std::vector<double> own(at(n)), others(at(n)), sum(at(n));
  aligned_.for_each_row([&](Index offset, Index i, Index j) {
    const auto is_missing = [&](std::size_t a, Index coarse) {
      return step[a] != 0 && !is_between(a, coarse, step[a]);
    };
    if (is_missing(0, i) || is_missing(1, j)) return;
    T* const out = result.data() + offset;
    if (number == Grid::here) {
      std::fill_n(out, n, T{1});
      return;
    }
    for (std::vector<double>* values : {&own, &others, &sum}) std::ranges::fill(*values, 0);
    const Index fine = fine_.offset_of({place(0, i), place(1, j), place(2, 0)}) + fine_.distance(step);
    for (const Part& part : parts) {
      const T *const c = fine_.coefficients(part.step, fine), *const weight = part.weight + (part.weight ? offset : 0);
      double* const all = part.is_own ? own.data() : others.data();
      for (Index x = 0; x < n; ++x) all[x] += static_cast<double>(c[stride * x]);
      for (Index x = 0; part.weight != nullptr && x < n; ++x) {
        sum[at(x)] -= static_cast<double>(c[stride * x]) * static_cast<double>(weight[x]);
      }
    }
    for (Index x = 0; x < n; ++x) {
      // What rounding leaves of a difference is less than what it has to be at least.
      const double all = std::max(own[at(x)], -others[at(x)]);
      out[x] = all > 0 && !is_missing(2, x) ? static_cast<T>(sum[at(x)] / all) : T{};
    }
  });
  return result;
}

template <class T>
auto OperatorTransfer<T>::product() const -> std::array<Values<T>, steps> {
  std::array<Values<T>, steps> result;
  const std::array all{runs(0), runs(1), runs(2)};
  const Index stride = how_.halves[2] ? 2 : 1;
  for (std::size_t s = Grid::here; s < steps; ++s) {
    const auto step = Grid::step(s);
    bool can_be = true;
    for (std::size_t a = 0; a < layout::axes; ++a) {
      can_be = can_be && (step[a] == 0 || aligned_.is_used()[a]);
    }
    if (can_be) result[s] = aligned_.zeros();
  }
  const auto add = [&](const Point& first, Index count, const std::array<const Way*, layout::axes>& ways) {
    Point fine{};
    typename Grid::Step coarse_step{}, from{}, to{}, fine_step{};
    for (std::size_t a = 0; a < layout::axes; ++a) {
      coarse_step[a] = ways[a]->coarse;
      from[a] = ways[a]->from;
      to[a] = ways[a]->to;
      fine_step[a] = ways[a]->fine;
      fine[a] = place(a, first[a]) + from[a];
    }
    const std::size_t s = Grid::number(coarse_step), way = Grid::number(fine_step);
    if (s < Grid::here || !fine_.has(way)) return;
    const Index offset = aligned_.offset_of(first);
    const T* const near = weights_[Grid::number(from)].data() + offset;
    const T* const far = weights_[Grid::number(to)].data() + offset + aligned_.distance(coarse_step);
    const T* const between = fine_.coefficients(way, fine_.offset_of(fine));
    T* const out = result[s].data() + offset;
    if (stride == 1) {
      for (Index x = 0; x < count; ++x) out[x] += near[x] * between[x] * far[x];
    } else {
#pragma omp simd
      for (Index x = 0; x < count; ++x) out[x] += near[x] * between[2 * x] * far[x];
    }
  };
  for (const Run& planes : all[0]) {
    for (const Run& rows : all[1]) {
      for (Index i = planes.begin; i < planes.end; ++i) {
        for (Index j = rows.begin; j < rows.end; ++j) {
          for (const Run& columns : all[2]) {
            for (const Way& zero : planes.ways) {
              for (const Way& one : rows.ways) {
                for (const Way& two : columns.ways) {
                  add({i, j, columns.begin}, columns.end - columns.begin, {&zero, &one, &two});
                }
              }
            }
          }
        }
      }
    }
  }
  return result;
}

template <class T>
void OperatorTransfer<T>::restrict(const Values<T>& r, Values<T>& b) {
  Values<T>& to = down_ ? moved_ : b;
  const Index stride = how_.halves[2] ? 2 : 1;
  aligned_.for_each_row([&](Index offset, Index i, Index j) {
    const Point fine{place(0, i), place(1, j), place(2, aligned_.own().low[2])};
    const Index from = fine_.offset_of(fine);
    T* const out = to.data() + offset;
    std::fill_n(out, aligned_.row_length(), T{});
    for (std::size_t s = 0; s < steps; ++s) {
      if (weights_[s].empty()) continue;
      const T *const weight = weights_[s].data() + offset, *const in = r.data() + from + fine_.distance(Grid::step(s));
      for (Index x = 0; x < aligned_.row_length(); ++x) out[x] += weight[x] * in[stride * x];
    }
  });
  if (!down_) return;
  const halo::Field field{moved_.data(), b.data()};
  (*down_)(std::span(&field, 1));
}

template <class T>
void OperatorTransfer<T>::interpolate(const Values<T>& e, Values<T>& u) {
  if (up_) {
    const halo::Field field{e.data(), moved_.data()};
    (*up_)(std::span(&field, 1));
  }
  const Values<T>& from = up_ ? moved_ : e;
  const layout::Box& own = fine_.own();
  const Index stride = how_.halves[2] ? 2 : 1, reach = how_.halves[2] ? 1 : 0, columns = aligned_.row_length();
  const layout::Box coarse = aligned_.own().grown(aligned_.ghost_layers(1));
  for (Index i = coarse.low[0]; i < coarse.high[0]; ++i) {
    for (Index j = coarse.low[1]; j < coarse.high[1]; ++j) {
      for (std::size_t s = 0; s < steps; ++s) {
        if (weights_[s].empty()) continue;
        const auto step = Grid::step(s);
        const Index to_i = place(0, i) + step[0], to_j = place(1, j) + step[1];
        if (to_i < own.low[0] || to_i >= own.high[0] || to_j < own.low[1] || to_j >= own.high[1]) continue;
        const Index first = stride * -reach + how_.first[2] * reach + step[2];  // where the coarse ghost before 0 is
        const Index offset = aligned_.offset_of({i, j, -reach}), to = fine_.offset_of({to_i, to_j, 0}) + first;
        const T *const weight = weights_[s].data() + offset, *const in = from.data() + offset;
        T* const out = u.data() + to;
        for (Index x = 0; x < columns + 2 * reach; ++x) {
          const Index at_column = first + stride * x;
          if (at_column >= 0 && at_column < fine_.row_length()) out[stride * x] += weight[x] * in[x];
        }
      }
    }
  }
}

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
    finest_.for_each_row([&](Index offset, Index i, Index j) {
      for (Index x = 0; x < finest_.row_length(); ++x) {
        if (finest_.is_inside({i, j, x})) {
          least = std::min(least, static_cast<double>((*finest_.coefficient())[at(offset + x)]));
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
  // Axes whose spacing is near the least one.
  constexpr double near = 1.5;
  const auto can_be_halved = [&](std::size_t a) {
    return partition.whole().high[a] >= (fine.is_periodic()[a] ? 3 : 2);
  };
  double least = INFINITY;
  for (std::size_t a = 0; a < layout::axes; ++a) {
    if (can_be_halved(a)) least = std::min(least, spacing_[a]);
  }
  layout::Coarsening how;
  for (std::size_t a = 0; a < layout::axes; ++a) {
    how.halves[a] = can_be_halved(a) && spacing_[a] <= near * least;
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
  // A pivot that is nothing but rounding belongs to a constant, which is left out.
  constexpr double nothing = 1e-13;
  for (std::size_t k = 0; k < n; ++k) {
    const double whole = a[k * n + k];
    for (std::size_t c = 0; c < k; ++c) a[k * n + k] -= a[k * n + c] * a[k * n + c] * a[c * n + c];
    double& pivot = a[k * n + k];
    if (!(pivot > nothing * whole)) pivot = 0;
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

template class OperatorTransfer<float>;
template class OperatorTransfer<double>;
template class BlackBox<float>;
template class BlackBox<double>;

}  // namespace plait::poisson
