#include "plait/poisson/solver.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"

namespace plait::poisson {

namespace {

using layout::Box;
using layout::BoxPartition;

void expect_valid(const Grid& grid) {
  const Box box = grid.box();
  const std::size_t dimensions = grid.extents.size();
  if (box.is_empty()) throw ArgumentError(fmt::format("extents: {} have no points", layout::describe(box)));
  if (grid.spacing.size() != dimensions) {
    throw ArgumentError(fmt::format("spacing: there are {}, expected {}", grid.spacing.size(), dimensions));
  }
  if (!grid.sides.empty() && grid.sides.size() != dimensions) {
    throw ArgumentError(fmt::format("sides: there are {} pairs, expected {}", grid.sides.size(), dimensions));
  }
  for (const double spacing : grid.spacing) {
    if (!(spacing > 0) || !std::isfinite(spacing)) {
      throw ArgumentError(fmt::format("spacing: is {}, expected a number above 0", spacing));
    }
  }
  for (std::size_t a = 0; a < grid.sides.size(); ++a) {
    const auto [below, above] = grid.sides[a];
    if ((below == Side::periodic) != (above == Side::periodic)) {
      throw ArgumentError(fmt::format("sides: one of axis {} is periodic, expected both or none", a));
    }
    if (grid.points == Points::nodes && (below == Side::flux || above == Side::flux)) {
      throw ArgumentError(fmt::format("sides: one of axis {} has a flux, which cells can have, nodes can't", a));
    }
  }
}

std::size_t first_axis(const Axes& axes) {
  std::size_t first = 0;
  while (first < axes.size() && !axes[first].is_used()) ++first;
  return first;
}

Box box_of(const Axes& axes) { return {{}, {axes[0].extent(), axes[1].extent(), axes[2].extent()}}; }

template <class T, class IsGood>
void expect_all(std::string_view name, std::span<const T> values, const Axes& axes, const Box& own,
                std::string_view wanted, const IsGood& is_good, const std::vector<bool>& ignored = {}) {
  const auto is_bad = [&](std::size_t i) { return !is_good(values[i]) && (ignored.empty() || !ignored[i]); };
  const auto bad = std::ranges::find_if(std::views::iota(std::size_t{0}, values.size()), is_bad);
  const auto places = std::views::iota(std::size_t{0}, values.size());
  if (bad == places.end()) return;
  auto place = static_cast<Index>(*bad);
  std::vector<Index> index;
  for (std::size_t a = layout::axes; a-- > first_axis(axes);) {
    const Index extent = own.extent(static_cast<int>(a));
    index.insert(index.begin(), own.low[a] + place % extent);
    place /= extent;
  }
  throw ArgumentError(
      fmt::format("{}: is {} at ({}), expected {}", name, values[*bad], fmt::join(index, ", "), wanted));
}

bool takes_outside(Method method) {
  return method == Method::jacobi || method == Method::sor || method == Method::conjugate_gradients ||
         method == Method::pipelined_conjugate_gradients || method == Method::multigrid_conjugate_gradients;
}

template <class T>
const BoxPartition& agreed(mpi::Context& context, const Axes& axes, const BoxPartition& partition, std::span<const T> k,
                           std::span<const T> f, std::span<const T> start, const Options& options) {
  mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add_type<T>();
    arguments.add("method", options.method);
    iterate::name_arguments(options.limits, arguments);
    arguments.add("omega", options.omega.value_or(0));
    arguments.add("sums", options.sums);
    arguments.add("project", options.project);
    for (const Axis& axis : axes) {
      arguments.add("extent", axis.extent());
      arguments.add("spacing", axis.spacing());
      for (const Side side : axis.sides()) arguments.add("side", side);
    }
    iterate::expect_valid(options.limits);
    if (options.omega && !(*options.omega > 0 && *options.omega < 2)) {
      throw ArgumentError(fmt::format("omega: is {}, expected one between 0 and 2", *options.omega));
    }
    const Box whole = box_of(axes);
    if (partition.whole() != whole || partition.ranks() != context.size()) {
      throw ArgumentError(fmt::format("partition: is of {} over {} ranks, expected {} over {}",
                                      layout::describe(partition.whole()), partition.ranks(), layout::describe(whole),
                                      context.size()));
    }
    const Box own = partition.box(context.rank());
    const auto expect_length = [&](std::string_view name, std::span<const T> values, bool may_be_empty) {
      if (std::ssize(values) == own.points() || (may_be_empty && values.empty())) return;
      throw ArgumentError(fmt::format("{}: has {} values, expected {}", name, values.size(), own.points()));
    };
    expect_length("k", k, true);
    expect_length("f", f, false);
    expect_length("start", start, true);
    const auto is_finite = [](T value) { return std::isfinite(value); };
    const std::vector<bool>& outside = options.outside.points;
    arguments.add("outside", options.outside.side);
    arguments.add("most_jump", options.multigrid.most_jump);
    if (!outside.empty()) {
      if (std::ssize(outside) != own.points()) {
        throw ArgumentError(fmt::format("outside: has {} values, expected {}", outside.size(), own.points()));
      }
      if (options.outside.side == Side::periodic) throw ArgumentError("outside: is periodic, expected flux or value");
      if (!takes_outside(options.method)) {
        throw ArgumentError(
            fmt::format("outside: there are such points, which {} can't have, expected jacobi, sor, cg, "
                        "pipelined-cg or mg-cg",
                        name(options.method)));
      }
    }
    expect_all(
        "k", k, axes, own, "a finite number above 0", [](T value) { return value > 0 && std::isfinite(value); },
        options.outside.side == Side::flux ? outside : std::vector<bool>());
    expect_all("f", f, axes, own, "a finite number", is_finite, outside);
    expect_all("start", start, axes, own, "a finite number", is_finite);
  });
  return partition;
}

// What suits a method best: others are moved to it, once.
template <class T>
BoxPartition partition_of(const Axes& axes, const BoxPartition& partition, Method method) {
  if (method == Method::fft) return FourierSolver::partition(axes, partition.ranks());
  return method >= Method::v_cycles ? Multigrid<T>::partition(axes, partition) : partition;
}

// For k = 1: 2 / (1 + √(1 - ρ²)) where ρ is the largest eigenvalue of Jacobi's iteration, but for 1 itself. Round an
// axis of odd extent points of one colour meet, and more than 1 need not converge.
double best_omega(const Axes& axes) {
  double all = 0, largest = 0, step_down = INFINITY;  // to the eigenvalue after 1
  bool is_singular = true;
  for (const Axis& axis : axes) {
    if (!axis.is_used()) continue;
    if (axis.is_periodic() && axis.extent() % 2 == 1) return 1;
    const double weight = 1 / (axis.spacing() * axis.spacing());
    const auto [below, above] = axis.sides();
    const int given = static_cast<int>(below == Side::value) + static_cast<int>(above == Side::value);
    const double angle = std::numbers::pi * axis.spacing() / axis.length();
    all += weight;
    largest += weight * (given == 2 ? std::cos(angle) : given == 1 ? std::cos(angle / 2) : 1);
    if (axis.extent() > 1)
      step_down = std::min(step_down, weight * (1 - std::cos(axis.is_periodic() ? 2 * angle : angle)));
    is_singular = is_singular && given == 0;
  }
  const double rho = std::clamp((is_singular ? all - step_down : largest) / all, 0., 1.);
  return 2 / (1 + std::sqrt(1 - rho * rho));
}

}  // namespace

std::string_view name(Method method) {
  switch (method) {
    case Method::jacobi: return "jacobi";
    case Method::sor: return "sor";
    case Method::conjugate_gradients: return "cg";
    case Method::pipelined_conjugate_gradients: return "pipelined-cg";
    case Method::fft: return "fft";
    case Method::v_cycles: return "v";
    case Method::w_cycles: return "w";
    case Method::f_cycles: return "f";
    case Method::full_multigrid: return "fmg";
    default: return "mg-cg";
  }
}

Axes axes_of(mpi::Context& context, const Grid& grid) {
  return mpi::agreed(context, [&](mpi::Alike& arguments) {
    arguments.add("points", grid.points);
    for (const Index extent : grid.extents) arguments.add("extent", extent);
    for (const double spacing : grid.spacing) arguments.add("spacing", spacing);
    for (const Axis::Sides& sides : grid.sides) {
      for (const Side side : sides) arguments.add("side", side);
    }
    expect_valid(grid);
    Axes axes{Axis::unused(), Axis::unused(), Axis::unused()};
    const std::size_t dimensions = grid.extents.size();
    for (std::size_t d = 0; d < dimensions; ++d) {
      const Axis::Sides sides = grid.sides.empty() ? Axis::Sides{Side::value, Side::value} : grid.sides[d];
      axes[layout::axes - dimensions + d] = Axis(grid.extents[d], grid.spacing[d], grid.points, sides);
    }
    return axes;
  });
}

template <class T>
double largest_jump(mpi::Context& context, const Axes& axes, const BoxPartition& partition, std::span<const T> k) {
  Level<T> level(context, axes, partition);
  Values<T> values = mpi::agreed(context, [&] { return level.zeros(); });
  if (!k.empty()) level.copy_in(k, values);
  level.exchange(values);
  double largest = 1;
  const Box& own = level.own();
  for (std::size_t a = k.empty() ? layout::axes : 0; a < layout::axes; ++a) {
    for (Index i = own.low[0]; i < own.high[0]; ++i) {
      for (Index j = own.low[1]; j < own.high[1]; ++j) {
        for (Index x = own.low[2]; x < own.high[2]; ++x) {
          const layout::Point point{i, j, x};
          layout::Point below = point;
          if (--below[a] < 0 && !axes[a].is_periodic()) continue;
          const auto here = static_cast<double>(values[at(level.offset_of(point))]);
          const auto there = static_cast<double>(values[at(level.offset_of(below))]);
          if (!(here > 0 && there > 0)) continue;
          largest = std::max({largest, here / there, there / here});
        }
      }
    }
  }
  return mpi::all_reduce(context.comm(), largest, mpi::Operation::maximum());
}

template <class T>
Solver<T>::Solver(mpi::Context& context, const Axes& axes, const BoxPartition& partition, std::span<const T> k,
                  std::span<const T> f, std::span<const T> start, const Options& options)
    : context_(context),
      options_(options),
      partition_(agreed(context, axes, partition, k, f, start, options)),
      level_(context, axes, partition_of<T>(axes, partition, options.method)),
      course_(options.limits, {.roundoff = iterate::roundoff_of<T>(), .errors = iterate::Errors::fluctuate}),
      dots_(context, options.sums) {
  omega_ = options.omega.value_or(options.method == Method::sor ? best_omega(level_.axes()) : 1);
  const Index varies = mpi::all_reduce(context.comm(), Index{k.empty() ? 0 : 1}, mpi::Operation::maximum());
  mpi::agreed(context, [&] {
    u_ = level_.zeros();
    b_ = level_.zeros();
    const bool has_own_residuals = options.method >= Method::v_cycles && options.method <= Method::full_multigrid;
    if (!has_own_residuals) r_ = level_.zeros();
    if (varies == 1 && k.empty() && !partition_.box(context.rank()).is_empty()) {
      throw ArgumentError("k: is missing on this rank, expected on all or none");
    }
  });
  const std::vector<bool>& outside = options.outside.points;
  const Index has_outside = mpi::all_reduce(context.comm(), Index{outside.empty() ? 0 : 1}, mpi::Operation::maximum());
  const auto to_level = [&](std::span<const T> given) {
    Values<T> values = level_.zeros();
    level_.copy_in(moved(given, partition_, level_.partition()), values);
    return values;
  };
  const auto inside_of = [&](std::span<const T> values) {  // as what is there outside need not be a number
    std::vector<T> result(values.begin(), values.end());
    for (std::size_t i = 0; i < outside.size(); ++i) result[i] = outside[i] ? T{} : result[i];
    return result;
  };
  std::vector<bool> inside;  // by points of the level
  if (has_outside == 1) {
    std::vector<T> ones(f.size(), T{1}), own(f.size(), T{1});
    for (std::size_t i = 0; i < outside.size(); ++i) own[i] = outside[i] ? T{} : T{1};
    const bool is_given = options.outside.side == Side::value;
    level_.set_coefficient(to_level(varies == 0 ? ones
                                    : is_given  ? std::vector<T>(k.begin(), k.end())
                                                : inside_of(k)),
                           to_level(own), is_given);
    level_.for_each_row([&](Index, Index i, Index j) {
      for (Index x = level_.own().low[2]; x < level_.own().high[2]; ++x) inside.push_back(level_.is_inside({i, j, x}));
    });
  } else if (varies == 1) {
    level_.set_coefficient(to_level(k));
  }
  parts_.emplace(context, axes, level_.partition(), inside, options.outside.side == Side::value);
  const Index starts = mpi::all_reduce(context.comm(), Index{start.empty() ? 0 : 1}, mpi::Operation::maximum());
  if (starts == 1) {
    const std::vector<T> none(start.empty() ? f.size() : 0);
    level_.copy_in(moved(start.empty() ? none : start, partition_, level_.partition()), u_);
  }
  if (has_outside == 1) {
    kept_ = level_.zeros();
    level_.for_each_row([&](Index offset, Index i, Index j) {
      for (Index x = 0; x < level_.row_length(); ++x) {
        if (!level_.is_inside({i, j, level_.own().low[2] + x})) std::swap(kept_[at(offset + x)], u_[at(offset + x)]);
      }
    });
  }
  set_right_side(moved(inside_of(f), partition_, level_.partition()));
  if (options.method == Method::multigrid_conjugate_gradients &&
      (has_outside == 1 || largest_jump(context, axes, partition, k) > options.multigrid.most_jump)) {
    black_box_.emplace(context, level_, options.multigrid.least_points_per_rank);
  } else if (options.method >= Method::v_cycles) {
    multigrid_.emplace(context, level_, options.multigrid);
  }
  if (options.method == Method::fft) make_fourier_solver(k);
  make_conjugate_gradients();
}

template <class T>
std::vector<T> Solver<T>::moved(std::span<const T> values, const BoxPartition& from, const BoxPartition& to) {
  std::vector<T> result = mpi::agreed(context_, [&] { return std::vector<T>(at(to.box(context_.rank()).points())); });
  if (from == to) {
    std::ranges::copy(values, result.begin());
  } else {
    halo::Exchange move(context_, {.from = from, .to = to}, Index{sizeof(T)}, 1, "field");
    const halo::Field field{values.data(), result.data()};
    move(std::span(&field, 1));
  }
  return result;
}

// Calls f(axis, side, point next to it, what u there is multiplied by, what is given) with flows into its stretch.
template <class T>
template <class F>
void Solver<T>::for_each_face_of_sides(const F& f) {
  const Box& own = level_.own();
  if (own.is_empty()) return;
  const std::size_t skipped = first_axis(level_.axes());
  for (std::size_t a = skipped; a < layout::axes; ++a) {
    const Axis& axis = level_.axes()[a];
    if (axis.is_periodic()) continue;
    for (int side = 0; side < 2; ++side) {
      Box face = own;
      if (side == 0) face.high[a] = face.low[a] + 1;
      if (side == 1) face.low[a] = face.high[a] - 1;
      if (face.low[a] != (side == 0 ? 0 : axis.extent() - 1)) continue;
      for (Index i = face.low[0]; i < face.high[0]; ++i) {
        for (Index j = face.low[1]; j < face.high[1]; ++j) {
          for (Index x = face.low[2]; x < face.high[2]; ++x) {
            const layout::Point point{i, j, x};
            if (!level_.is_inside(point)) continue;
            layout::Point above = point;
            above[a] += side;
            std::array<double, layout::axes> place{};
            for (std::size_t c = skipped; c < layout::axes; ++c) {
              place[c - skipped] = level_.axes()[c].position(point[c]);
            }
            place[a - skipped] = side == 0 ? 0 : axis.length();
            const auto where = std::span<const double>(place).first(layout::axes - skipped);
            const double given = options_.boundary ? options_.boundary(static_cast<int>(a - skipped), side, where) : 0;
            const bool is_flux = axis.sides()[at(side)] == Side::flux;
            f(a, side, point, is_flux ? 0 : level_.conductance(static_cast<int>(a), above), given, is_flux);
          }
        }
      }
    }
  }
}

// What is given on sides goes to the right side.
template <class T>
void Solver<T>::set_right_side(std::span<const T> f) {
  level_.copy_in(f, b_);
  if (level_.has_outside()) {
    // f counts inside, and flows from points at which u is given.
    level_.exchange(kept_);
    Values<T> right_side = level_.zeros();
    level_.residual(kept_, b_, right_side);
    b_ = std::move(right_side);
  }
  mpi::agreed(context_, [&] {
    if (!options_.boundary) return;
    for_each_face_of_sides(
        [&](std::size_t a, int side, const layout::Point& point, double conductance, double given, bool is_flux) {
          if (!std::isfinite(given)) {
            throw ArgumentError(fmt::format("boundary: is {} on side {} of axis {}, expected a finite number", given,
                                            side, a - first_axis(level_.axes())));
          }
          const double flow = is_flux ? given : conductance * given;
          b_[at(level_.offset_of(point))] += static_cast<T>(flow / level_.axes()[a].width(point[a]));
        });
  });
  expect_range();
  if (!parts_->free().empty()) subtracted_ = remove_means(b_, true);
}

// Sums of squares of b, and of what becomes of it, have to be numbers other than 0.
template <class T>
void Solver<T>::expect_range() const {
  constexpr double most = 1e140;
  double largest = 0;
  level_.for_each_row([&](Index offset, Index, Index) {
    for (Index x = offset; x < offset + level_.row_length(); ++x) {
      largest = std::max(largest, std::abs(static_cast<double>(b_[at(x)])));
    }
  });
  largest = mpi::all_reduce(context_.comm(), largest, mpi::Operation::maximum());
  if (largest == 0 || (largest >= 1 / most && largest <= most)) return;
  throw ArgumentError(
      fmt::format("f: with what is given on sides, its largest value is {:.3g}, expected 0 or {:g} to "
                  "{:g}, as its squares are summed up: take other units",
                  largest, 1 / most, most));
}

// The stretch of a point, in usual ones.
template <class T>
double Solver<T>::weight(Index i, Index j, Index x) const {
  double product = 1;
  const layout::Point point{i, j, x};
  for (std::size_t a = 0; a < layout::axes; ++a) {
    const Axis& axis = level_.axes()[a];
    if (axis.is_used()) product *= axis.width(point[a]) / axis.spacing();
  }
  return product;
}

// Of each part with a free constant; returns the largest one.
template <class T>
double Solver<T>::remove_means(Values<T>& values, bool is_expected) {
  const std::vector<layout::Point>& free = parts_->free();
  const std::size_t count = free.size();
  auto [sums, means] = mpi::agreed(
      context_, [&] { return std::pair(std::vector<simd::ExactSum>(3 * count), std::vector<double>(count)); });
  const auto for_each_free = [&](const auto& f) {
    Index number = 0;
    level_.for_each_row([&](Index offset, Index i, Index j) {
      for (Index x = 0; x < level_.row_length(); ++x) {
        if (const Index part = parts_->of(number++); part >= 0) f(at(part), at(offset + x), i, j, x);
      }
    });
  };
  for_each_free([&](std::size_t part, std::size_t place, Index i, Index j, Index x) {
    const double stretch = weight(i, j, level_.own().low[2] + x), value = stretch * static_cast<double>(values[place]);
    sums[3 * part].add(value);
    sums[3 * part + 1].add(std::abs(value));
    sums[3 * part + 2].add(stretch);
  });
  collective::merge(context_, sums);
  double largest = 0;
  for (std::size_t part = 0; part < count; ++part) {
    const double sum = sums[3 * part].template rounded<double>(), size = sums[3 * part + 1].template rounded<double>();
    means[part] = sum / sums[3 * part + 2].template rounded<double>();
    if (std::abs(means[part]) > std::abs(largest)) largest = means[part];
    if (!is_expected || options_.project || std::abs(sum) <= 64 * iterate::roundoff_of<T>() * size) continue;
    const std::span<const Index> place = std::span(free[part]).subspan(first_axis(level_.axes()));
    const std::string where = parts_->count() == 1
                                  ? std::string()
                                  : fmt::format(" on the part of the domain that has ({})", fmt::join(place, ", "));
    throw ArgumentError(fmt::format(
        "f: its mean{}, with what flows in through the sides, is {:.6g}, expected 0, as u is given on no side{}: "
        "there is no solution, but for f without its mean (project)",
        where, means[part], where.empty() ? "" : " of it"));
  }
  for_each_free(
      [&](std::size_t part, std::size_t place, Index, Index, Index) { values[place] -= static_cast<T>(means[part]); });
  return largest;
}

template <class T>
void Solver<T>::make_conjugate_gradients() {
  const bool is_pipelined = options_.method == Method::pipelined_conjugate_gradients;
  const bool has_preconditioner = options_.method == Method::multigrid_conjugate_gradients;
  if (!is_pipelined && !has_preconditioner && options_.method != Method::conjugate_gradients) return;
  mpi::agreed(context_, [&] {
    right_side_.resize(at(level_.own().points()));
    solution_.resize(right_side_.size());
  });
  level_.copy_out(b_, right_side_);
  level_.copy_out(u_, solution_);
  std::ranges::fill(b_, T{});  // the place of vectors that A is applied to, from here on
  const krylov::Operator<T> a = [this](std::span<const T> in, std::span<T> out) {
    level_.copy_in(in, u_);
    level_.exchange(u_);
    std::ranges::fill(b_, T{});
    level_.residual(u_, b_, r_);
    level_.copy_out(r_, out);
    for (T& value : out) value = -value;
  };
  const krylov::Operator<T> m = [this](std::span<const T> in, std::span<T> out) {
    level_.copy_in(in, b_);
    black_box_ ? black_box_->apply(b_, u_) : multigrid_->apply(Cycle::symmetric, b_, u_);
    level_.copy_out(u_, out);
  };
  const krylov::Options options{options_.limits, options_.sums};
  if (is_pipelined) {
    pipelined_ = std::make_unique<krylov::PipelinedConjugateGradient<T>>(context_, a, right_side_, solution_, options);
  } else {
    conjugate_gradient_ = std::make_unique<krylov::ConjugateGradient<T>>(
        context_, a, right_side_, solution_, options, has_preconditioner ? m : krylov::Operator<T>{});
  }
}

template <class T>
void Solver<T>::make_fourier_solver(std::span<const T> k) {
  std::array<double, 2> extremes{1, -1};  // the least one, and less the largest one
  if (level_.coefficient()) {
    extremes = {INFINITY, INFINITY};
    for (const T value : k) {
      extremes[0] = std::min(extremes[0], static_cast<double>(value));
      extremes[1] = std::min(extremes[1], -static_cast<double>(value));
    }
    mpi::all_reduce(context_.comm(), std::span<double>(extremes), mpi::Operation::minimum());
  }
  if (extremes[0] != -extremes[1]) {
    throw ArgumentError(
        fmt::format("method: fft takes a k that is the same everywhere, expected another one, as k is {} to {}",
                    extremes[0], -extremes[1]));
  }
  fourier_.emplace(context_, level_.axes(), extremes[0]);
}

// u ← u + A⁻¹ r
template <class T>
void Solver<T>::correct() {
  std::vector<double> e = mpi::agreed(context_, [&] { return std::vector<double>(at(level_.own().points())); });
  const auto for_each_value = [&](Values<T>& values, const auto& f) {
    auto next = e.begin();
    level_.for_each_row([&](Index offset, Index, Index) {
      for (Index x = offset; x < offset + level_.row_length(); ++x) f(values[at(x)], *next++);
    });
  };
  for_each_value(r_, [](T& r, double& value) { value = static_cast<double>(r); });
  fourier_->solve(e);
  for_each_value(u_, [](T& u, double value) { u += static_cast<T>(value); });
}

template <class T>
double Solver<T>::error() {
  const bool is_first = right_side_squared_ == 0;
  if (!has_cycles()) {
    level_.exchange(u_);
    level_.residual(u_, b_, r_);
  }
  level_.for_each_row([&](Index offset, Index, Index) {
    const auto add = [&](std::size_t i, const Values<T>& values) {
      const std::span<const T> row(values.data() + offset, at(level_.row_length()));
      dots_.add(i, row, row);
    };
    if (!has_cycles()) add(0, r_);
    if (is_first) add(1, b_);
  });
  dots_.begin();
  dots_.finish();
  if (is_first) right_side_squared_ = dots_[1];
  return right_side_squared_ == 0 ? 0 : std::sqrt(dots_[0] / right_side_squared_);
}

template <class T>
void Solver<T>::iterate_once() {
  switch (options_.method) {
    case Method::jacobi: level_.add_scaled_residual(static_cast<T>(omega_), r_, u_); break;  // r is that of u
    case Method::sor: level_.sweep(static_cast<T>(omega_), u_, b_); break;
    case Method::fft: correct(); break;
    case Method::w_cycles: multigrid_->improve(Cycle::w, u_, b_, dots_); break;
    case Method::f_cycles: multigrid_->improve(Cycle::f, u_, b_, dots_); break;
    case Method::full_multigrid: multigrid_->improve(Cycle::full, u_, b_, dots_); break;
    default: multigrid_->improve(Cycle::v, u_, b_, dots_);
  }
}

template <class T>
bool Solver<T>::advance() {
  if (conjugate_gradient_) return conjugate_gradient_->advance();
  if (pipelined_) return pipelined_->advance();
  if (course_.state().end != iterate::End::none) return false;
  if (!has_begun_) {
    has_begun_ = true;
    if (has_cycles()) multigrid_->begin(u_, b_, dots_);
    const double first = error();
    if (right_side_squared_ == 0) std::ranges::fill(u_, T{});
    if (course_.errors().empty() && first <= options_.limits.tolerance) {
      course_.end(iterate::End::converged, fmt::format("‖b - A·u‖/‖b‖ is {:.3g} at the start", first));
      return false;
    }
    if (course_.is_at_limit()) {
      course_.end_at_limit();
      return false;
    }
  }
  iterate_once();
  course_.took(error());
  const std::vector<double>& errors = course_.errors();
  constexpr double hopeless = 1e6;
  if (!std::isfinite(errors.back()) || errors.back() > hopeless * std::max(errors.front(), 1.)) {
    course_.end(
        iterate::End::numbers,
        fmt::format("the error has grown from {:.3g} to {:.3g}: the method does not converge here{}", errors.front(),
                    errors.back(), level_.coefficient() ? ", as k jumps; use multigrid as a preconditioner" : ""));
    return false;
  }
  if (course_.is_over()) return false;
  if (!course_.is_at_limit()) return true;
  course_.end_at_limit();
  return false;
}

template <class T>
const iterate::State& Solver<T>::state() const noexcept {
  return conjugate_gradient_ ? conjugate_gradient_->state() : pipelined_ ? pipelined_->state() : course_.state();
}

template <class T>
const std::vector<double>& Solver<T>::errors() const noexcept {
  return conjugate_gradient_ ? conjugate_gradient_->errors() : pipelined_ ? pipelined_->errors() : course_.errors();
}

template <class T>
void Solver<T>::save(iterate::Checkpoint& checkpoint) const {
  if (conjugate_gradient_) return conjugate_gradient_->save(checkpoint);
  if (pipelined_) return pipelined_->save(checkpoint);
  course_.save(checkpoint);
  std::vector<T> u(at(level_.own().points()));
  level_.copy_out(u_, u);
  checkpoint.by_rank["u"].assign(u.begin(), u.end());
}

template <class T>
void Solver<T>::resume(const iterate::Checkpoint& checkpoint) {
  if (conjugate_gradient_) return conjugate_gradient_->resume(checkpoint);
  if (pipelined_) return pipelined_->resume(checkpoint);
  mpi::agreed(context_, [&] {
    course_.resume(checkpoint);
    const auto found = checkpoint.by_rank.find("u");
    const Index size = found == checkpoint.by_rank.end() ? 0 : std::ssize(found->second);
    if (size != level_.own().points()) {
      throw ArgumentError(fmt::format("the state has {} values of u, expected {}", size, level_.own().points()));
    }
    std::vector<T> u;
    for (Index i = 0; i < size; ++i) u.push_back(static_cast<T>(found->second[at(i)]));
    level_.copy_in(u, u_);
  });
}

template <class T>
void Solver<T>::copy_solution(std::span<T> u) {
  copy_from_conjugate_gradients();
  std::vector<T> own(at(level_.own().points()));
  if (!parts_->free().empty() || level_.has_outside()) {
    Values<T> shifted = u_;  // as those who go on have ghosts and residuals of u as it is
    remove_means(shifted, false);
    for (std::size_t i = 0; i < kept_.size(); ++i) shifted[i] += kept_[i];
    level_.copy_out(shifted, own);
  } else {
    level_.copy_out(u_, own);
  }
  if (level_.partition() != partition_) own = moved(own, level_.partition(), partition_);
  std::ranges::copy(own, u.begin());
}

template <class T>
void Solver<T>::copy_from_conjugate_gradients() {
  if (!conjugate_gradient_ && !pipelined_) return;
  level_.copy_in(solution_, u_);
  level_.copy_in(right_side_, b_);
}

// Their sums, of b - A·u and of b.
template <class T>
std::array<double, 2> Solver<T>::squares() {
  copy_from_conjugate_gradients();
  level_.exchange(u_);
  const Index n = level_.row_length();
  std::vector<T> r = mpi::agreed(context_, [&] { return std::vector<T>(at(n + most_lanes)); });
  std::array<simd::ExactSum, 2> squares;
  level_.for_each_row([&](Index offset, Index i, Index j) {
    level_.residual(u_, b_, {i, j, level_.own().low[2]}, n, r.data());
    for (Index x = 0; x < n; ++x) {
      squares[0].add(static_cast<double>(r[at(x)]) * static_cast<double>(r[at(x)]));
      squares[1].add(static_cast<double>(b_[at(offset + x)]) * static_cast<double>(b_[at(offset + x)]));
    }
  });
  collective::merge(context_, squares);
  return {squares[0].rounded<double>(), squares[1].rounded<double>()};
}

template <class T>
double Solver<T>::residual() {
  const auto [left, all] = squares();
  return all == 0 ? 0 : std::sqrt(left / all);
}

template <class T>
double Solver<T>::right_side() {
  return std::sqrt(squares()[1] / static_cast<double>(partition_.whole().points()));
}

template <class T>
Balance Solver<T>::balance() {
  copy_from_conjugate_gradients();
  std::array<simd::ExactSum, 2 + 2 * layout::axes> sums;
  const std::size_t skipped = first_axis(level_.axes());
  double stretch = 1;
  for (const Axis& axis : level_.axes()) stretch *= axis.is_used() ? axis.spacing() : 1;
  level_.for_each_row([&](Index offset, Index i, Index j) {
    for (Index x = 0; x < level_.row_length(); ++x) {
      sums[0].add(stretch * weight(i, j, level_.own().low[2] + x) * static_cast<double>(b_[at(offset + x)]));
    }
  });
  for_each_face_of_sides(
      [&](std::size_t a, int side, const layout::Point& point, double conductance, double given, bool is_flux) {
        const double area = stretch * weight(point[0], point[1], point[2]) / level_.axes()[a].width(point[a]);
        const double fixed = area * (is_flux ? given : conductance * given);
        sums[0].add(-fixed);  // which the right side has
        sums[1 + 2 * (a - skipped) + at(side)].add(fixed - area * conductance *
                                                               static_cast<double>(u_[at(level_.offset_of(point))]));
      });
  if (level_.is_outside_given()) {
    level_.exchange(u_);
    const auto& axes = level_.axes();
    level_.for_each_row([&](Index offset, Index i, Index j) {
      for (Index x = level_.own().low[2]; x < level_.own().high[2]; ++x, ++offset) {
        const layout::Point point{i, j, x};
        for (std::size_t a = skipped; a < layout::axes && level_.is_inside(point); ++a) {
          for (const Index side : {0, 1}) {
            layout::Point next = point, above = point;
            next[a] += 2 * side - 1;
            above[a] += side;
            const bool is_beyond = !axes[a].is_periodic() && (next[a] < 0 || next[a] >= axes[a].extent());
            if (is_beyond || level_.is_inside(next)) continue;
            const double flow =
                stretch * weight(i, j, x) / axes[a].width(point[a]) * level_.conductance(static_cast<int>(a), above);
            const double fixed = flow * static_cast<double>(kept_[at(level_.offset_of(next))]);
            sums[0].add(-fixed);
            sums.back().add(fixed - flow * static_cast<double>(u_[at(offset)]));
          }
        }
      }
    });
  }
  collective::merge(context_, sums);
  Balance balance{.source = sums[0].rounded<double>(), .from_outside = sums.back().rounded<double>()};
  for (std::size_t a = 0; a < layout::axes; ++a) {
    for (std::size_t side = 0; side < 2; ++side) {
      balance.inflow[a][side] = sums[1 + 2 * a + side].rounded<double>();
    }
  }
  return balance;
}

template class Solver<float>;
template class Solver<double>;
template double largest_jump(mpi::Context&, const Axes&, const BoxPartition&, std::span<const float>);
template double largest_jump(mpi::Context&, const Axes&, const BoxPartition&, std::span<const double>);

}  // namespace plait::poisson
