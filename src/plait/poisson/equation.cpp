#include "plait/poisson/equation.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/collective/reproducible_sum.hpp"
#include "plait/iterate/stagnation.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/simd/exact/reproducible_sum.hpp"

namespace plait::poisson {

using layout::Box;
using layout::BoxPartition;

Equation::Equation(mpi::Context& context, const Given& given, const BoxPartition& partition, Index width, bool project)
    : context_(context),
      given_(given.partition),
      boundary_(given.boundary),
      project_(project),
      starts_at_zero_(mpi::all_reduce(context.comm(), Index{given.start.empty() ? 0 : 1}, mpi::Operation::maximum()) ==
                      0),
      level_(context, given.axes, partition, width) {
  const Outside& outside = given.outside;
  std::span<const double> f = given.f;
  set_coefficient(given.k, outside);
  if (starts_at_zero_) {
    start_ = mpi::agreed(context, [&] { return level_.zeros(); });
  } else {
    const std::vector<double> none(given.start.empty() ? f.size() : 0);
    start_ = on_level(given.start.empty() ? none : given.start);
  }
  std::vector<bool> inside;  // by points of the level
  if (level_.has_outside()) {
    kept_ = mpi::agreed(context, [&] { return level_.zeros(); });
    level_.for_each_point([&](std::size_t place, const layout::Point& point) {
      inside.push_back(level_.is_inside(point));
      if (!inside.back()) std::swap(kept_[place], start_[place]);
    });
  }
  parts_.emplace(context, given.axes, level_.partition(), inside, outside.side == Side::value);
  if (parts_->count() == 0) throw ArgumentError("outside: has all points of the box, expected some to be inside");
  std::vector<double> inner;  // as what is there outside need not be a number
  if (!outside.points.empty()) {
    inner.assign(f.begin(), f.end());
    for (std::size_t i = 0; i < inner.size(); ++i) inner[i] = outside.points[i] ? 0 : inner[i];
    f = inner;
  }
  set_right_side(f);
  if (width > 1) level_.exchange(b_, halo::Reach::corners);
}

Values Equation::on_level(std::span<const double> given) {
  std::vector<double> moved;
  if (given_ != level_.partition()) given = moved = halo::moved(context_, given_, given, level_.partition());
  return mpi::agreed(context_, [&] { return level_.values(given); });
}

void Equation::set_coefficient(const Coefficient& k, const Outside& outside) {
  const bool is_given = outside.side == Side::value;
  const auto is_outside = [&](std::size_t i) { return !outside.points.empty() && outside.points[i]; };
  // Whether some rank has a k, and points outside; the least k, and of -k.
  std::array<double, 4> extremes{k.points.empty() ? 1. : 0., outside.points.empty() ? 1. : 0., INFINITY, INFINITY};
  for (std::size_t i = 0; i < k.points.size(); ++i) {
    if (is_outside(i)) continue;
    extremes[2] = std::min(extremes[2], k.points[i]);
    extremes[3] = std::min(extremes[3], -k.points[i]);
  }
  mpi::all_reduce(context_.comm(), std::span<double>(extremes), mpi::Operation::minimum());
  const bool varies = extremes[0] == 0, has_outside = extremes[1] == 0;
  mpi::agreed(context_, [&] {
    if (varies && k.points.empty() && !given_.box(context_.rank()).is_empty()) {
      throw ArgumentError("k: is missing on this rank, expected on all or none");
    }
  });
  if (varies) extremes_ = {extremes[2], -extremes[3]};
  if (!varies && !has_outside && k.faces.empty()) return;
  std::vector<double> own(at(has_outside ? given_.box(context_.rank()).points() : 0));
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = is_outside(i) ? 0 : 1;
  Values inside = has_outside ? on_level(own) : Values();
  if (!k.faces.empty()) {
    set_faces(k, std::move(inside), is_given);
  } else if (!has_outside) {
    level_.set_coefficient(on_level(k.points));
  } else {
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i] = k.points.empty() ? 1 : is_outside(i) && !is_given ? 0 : k.points[i];
    }
    level_.set_coefficient(on_level(own), std::move(inside), is_given);
  }
  constexpr double much = 10;
  if (extremes_[1] > much * extremes_[0]) mpi::agreed(context_, [&] { level_.weigh_residuals(); });
}

void Equation::set_faces(const Coefficient& k, Values inside, bool is_given) {
  const Axes& axes = level_.axes();
  const Box& own = level_.own();
  const std::size_t first = first_axis(axes);
  std::array<Values, layout::axes> faces;
  for (std::size_t a = first; a < layout::axes; ++a) {
    const BoxPartition from = faces_of(axes, given_, a), to = faces_of(axes, level_.partition(), a);
    const halo::Filling filling{
        .from = from, .to = to, .to_layers = level_.layers(), .width = level_.layers(), .periodic = periodic(axes)};
    const Box there = to.box(context_.rank()).grown(level_.layers());
    Values moved = mpi::agreed(context_, [&] {
      faces[a] = level_.zeros();
      return Values(at(there.points()));
    });
    halo::Exchange move(context_, filling, Index{sizeof(double)}, 1, "faces");
    move(std::array{halo::Field{k.faces[a - first].data(), moved.data()}});
    const Box both = there.intersection(own.grown(level_.layers()));
    layout::for_each_row(both, [&](const layout::Point& row) {
      std::copy_n(moved.begin() + there.offset_of(row), both.extent(2), faces[a].begin() + level_.offset_of(row));
    });
  }
  level_.set_coefficient(faces, std::move(inside), is_given);
  std::array<double, 2> extremes{INFINITY, INFINITY};  // the least k, and of -k
  mpi::agreed(context_, [&] {
    for (std::size_t a = first; a < layout::axes; ++a) {
      Box box = own;
      if (!own.is_empty()) ++box.high[a];
      layout::for_each_point(box, [&](const layout::Point& point) {
        if (!level_.flows(a, point)) return;
        const double value = faces[a][at(level_.offset_of(point))];
        extremes = {std::min(extremes[0], value), std::min(extremes[1], -value)};
        if (is_in_range(value)) return;
        throw ArgumentError(fmt::format("k[{}]: is {} at face ({}), expected a number from 1e-100 to 1e100", a - first,
                                        value, fmt::join(std::span(point).subspan(first), ", ")));
      });
    }
  });
  mpi::all_reduce(context_.comm(), std::span<double>(extremes), mpi::Operation::minimum());
  extremes_ = {extremes[0], -extremes[1]};
}

std::vector<double> Equation::solution(const Values& u) {
  std::vector<double> own = mpi::agreed(context_, [&] { return level_.own_values(u); });
  remove_means(own);
  if (!kept_.empty()) {
    auto next = own.begin();
    level_.for_each_point([&](std::size_t place, const layout::Point&) { *next++ += kept_[place]; });
  }
  if (given_ == level_.partition()) return own;
  return halo::moved(context_, level_.partition(), own, given_);
}

// Of each face below or above a point of this rank across which u or a flow is given: calls f(its place in
// `Balance::inflow`, or beyond, axis, point, c, flow into the point where u is 0 there), which is less by c · u.
template <class F>
void Equation::for_each_given_face(const F& f) {
  const Axes& axes = level_.axes();
  const std::size_t skipped = first_axis(axes);
  for (std::size_t a = skipped; a < layout::axes; ++a) {
    const Axis& axis = axes[a];
    for (int side = 0; side < 2; ++side) {
      Box near = level_.own();
      if (!level_.is_outside_given()) {
        if (axis.is_periodic()) continue;
        Box plane = box_of(axes);
        side == 0 ? plane.high[a] = 1 : plane.low[a] = axis.extent() - 1;
        near = near.intersection(plane);
      }
      layout::for_each_point(near, [&](const layout::Point& point) {
        layout::Point next = point, above = point;
        next[a] += 2 * side - 1;
        above[a] += side;
        const bool is_side = axis.within(next[a]) < 0;
        if (!level_.is_inside(point) || (!is_side && level_.is_inside(next))) return;
        const double c = level_.conductance(a, above);
        if (!is_side) return f(2 * layout::axes, a, point, c, c * kept_[at(level_.offset_of(next))]);
        std::array<double, layout::axes> place{};
        for (std::size_t other = skipped; other < layout::axes; ++other) {
          place[other - skipped] = axes[other].position(point[other]);
        }
        place[a - skipped] = side == 0 ? 0 : axis.length();
        const auto where = std::span<const double>(place).first(layout::axes - skipped);
        const double given = boundary_ ? boundary_(static_cast<int>(a - skipped), side, where) : 0;
        if (!std::isfinite(given)) {
          throw ArgumentError(
              fmt::format("boundary: is {} on side {} of axis {}, expected a finite number", given, side, a - skipped));
        }
        const bool is_flux = axis.sides()[at(side)] == Side::flux;
        f(2 * (a - skipped) + at(side), a, point, is_flux ? 0 : c, is_flux ? given : c * given);
      });
    }
  }
}

void Equation::set_right_side(std::span<const double> f) {
  b_ = on_level(f);
  if (level_.is_outside_given()) level_.exchange(kept_);
  mpi::agreed(context_, [&] {
    for_each_given_face([&](std::size_t, std::size_t a, const layout::Point& point, double, double inflow) {
      b_[at(level_.offset_of(point))] += inflow / level_.axes()[a].width(point[a]);
    });
  });
  expect_range();
  if (parts_->free().empty()) return;
  std::vector<double> own = mpi::agreed(context_, [&] { return level_.own_values(b_); });
  subtracted_ = remove_means(own, true);
  level_.copy_in(own, b_);
  largest_ = level_.largest_of(context_, b_);
}

// Sums of squares of b, and of what becomes of it, have to be numbers other than 0.
void Equation::expect_range() {
  constexpr double most = 1e140;
  largest_ = level_.largest_of(context_, b_);
  if (largest_ == 0 || (largest_ >= 1 / most && largest_ <= most)) return;
  throw ArgumentError(
      fmt::format("f: with what is given on sides, its largest value is {:.3g}, expected 0 or {:g} to "
                  "{:g}, as its squares are summed up: take other units",
                  largest_, 1 / most, most));
}

// Of each part with a free constant; returns the largest one.
double Equation::remove_means(std::span<double> values, bool is_expected) {
  const std::vector<layout::Point>& free = parts_->free();
  const std::size_t count = free.size();
  if (count == 0) return 0;
  auto memory = mpi::agreed(
      context_, [&] { return std::pair(std::vector<simd::ExactSum>(3 * count), std::vector<double>(count)); });
  auto& sums = memory.first;
  auto& means = memory.second;
  const auto for_each_free = [&](const auto& f) {
    Index number = 0;
    level_.for_each_point([&](std::size_t, const layout::Point& point) {
      if (const Index part = parts_->of(number); part >= 0) f(at(part), values[at(number)], point);
      ++number;
    });
  };
  for_each_free([&](std::size_t part, double own, const layout::Point& point) {
    const double stretch = level_.stretch(point), value = stretch * own;
    sums[3 * part].add(value);
    sums[3 * part + 1].add(std::abs(value));
    sums[3 * part + 2].add(stretch);
  });
  collective::merge(context_, sums);
  double largest = 0;
  for (std::size_t part = 0; part < count; ++part) {
    const double sum = sums[3 * part].rounded<double>(), size = sums[3 * part + 1].rounded<double>();
    means[part] = sum / sums[3 * part + 2].rounded<double>();
    if (std::abs(means[part]) > std::abs(largest)) largest = means[part];
    if (!is_expected || project_ || std::abs(sum) <= 64 * iterate::roundoff_of<double>() * size) continue;
    const std::span<const Index> place = std::span(free[part]).subspan(first_axis(level_.axes()));
    const std::string where = parts_->count() == 1
                                  ? std::string()
                                  : fmt::format(" on the part of the domain that has ({})", fmt::join(place, ", "));
    throw ArgumentError(fmt::format(
        "f: its mean{}, with what flows in through the sides, is {:.6g}, expected 0, as u is given on no side{}: "
        "there is no solution, but for f without its mean (project)",
        where, means[part], where.empty() ? "" : " of it"));
  }
  for_each_free([&](std::size_t part, double& own, const layout::Point&) { own -= means[part]; });
  return largest;
}

std::array<double, 4> Equation::squares(Values& u) {
  level_.exchange(u);
  const Index n = level_.row_length();
  std::vector<double> r;
  std::vector<double> products;
  mpi::agreed(context_, [&] {
    r.resize(at(n + most_lanes));
    products.resize(at(n));
  });
  std::array<simd::ExactSum, 4> squares;
  const auto add = [&](simd::ExactSum& sum, std::span<const double> values) {
    std::ranges::transform(values, products.begin(), [](double value) { return value * value; });
    simd::add_to(sum, std::span<const double>(products));
  };
  level_.for_each_row([&](Index offset, Index i, Index j) {
    const double* const b = b_.data() + offset;
    level_.residual(u, b, {i, j, level_.own().low[2]}, n, r.data());
    add(squares[0], {r.data(), at(n)});
    add(squares[1], {b, at(n)});
    if (!level_.weighs()) return;
    add(squares[2], level_.weighted(r.data(), offset));
    add(squares[3], level_.weighted(b, offset));
  });
  collective::merge(context_, squares);
  std::array<double, 4> sums{};
  std::ranges::transform(squares, sums.begin(), [](const simd::ExactSum& sum) { return sum.rounded<double>(); });
  if (!level_.weighs()) std::copy_n(sums.begin(), 2, sums.begin() + 2);
  return sums;
}

Balance Equation::balance(const Values& u) {
  std::array<simd::ExactSum, 3 + 2 * layout::axes> sums;  // of sources, flows by side, from outside, and sizes
  std::vector<double> sources = mpi::agreed(context_, [&] { return std::vector<double>(b_.size()); });
  double stretch = 1;
  for (const Axis& axis : level_.axes()) stretch *= axis.is_used() ? axis.spacing() : 1;
  level_.for_each_point([&](std::size_t place, const layout::Point& point) {
    sources[place] = stretch * level_.stretch(point) * b_[place];
    sums[0].add(sources[place]);
  });
  // The right side has a part of each flow that is no source.
  mpi::agreed(context_, [&] {
    for_each_given_face([&](std::size_t number, std::size_t a, const layout::Point& point, double c, double inflow) {
      const double area = stretch * level_.stretch(point) / level_.axes()[a].width(point[a]), fixed = area * inflow;
      const auto place = at(level_.offset_of(point));
      const double flow = fixed - area * c * u[place];
      sums[0].add(-fixed);
      sources[place] -= fixed;
      sums[1 + number].add(flow);
      sums.back().add(std::abs(flow));
    });
  });
  for (const double source : sources) sums.back().add(std::abs(source));
  collective::merge(context_, sums);
  Balance balance{.source = sums[0].rounded<double>(),
                  .size = sums.back().rounded<double>(),
                  .from_outside = sums[sums.size() - 2].rounded<double>()};
  for (std::size_t a = 0; a < layout::axes; ++a) {
    for (std::size_t side = 0; side < 2; ++side) {
      balance.inflow[a][side] = sums[1 + 2 * a + side].rounded<double>();
    }
  }
  return balance;
}

}  // namespace plait::poisson
