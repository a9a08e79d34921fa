#include "plait/poisson/problem.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
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

template <class IsGood>
void expect_all(std::string_view name, std::span<const double> values, const Axes& axes, const Box& own,
                std::string_view wanted, const IsGood& is_good, const std::vector<bool>& ignored = {}) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_good(values[i]) || (!ignored.empty() && ignored[i])) continue;
    const layout::Point point = own.point_at(static_cast<Index>(i));
    throw ArgumentError(fmt::format("{}: is {} at ({}), expected {}", name, values[i],
                                    fmt::join(std::span(point).subspan(first_axis(axes)), ", "), wanted));
  }
}

}  // namespace

layout::Box box_of(const Axes& axes) { return {{}, {axes[0].extent(), axes[1].extent(), axes[2].extent()}}; }

std::size_t first_axis(const Axes& axes) {
  std::size_t first = 0;
  while (first < axes.size() && !axes[first].is_used()) ++first;
  return first;
}

double least_spacing(const Axes& axes) {
  double least = INFINITY;
  for (const Axis& axis : axes) least = std::min(least, axis.is_used() ? axis.spacing() : INFINITY);
  return least;
}

Coarser::Coarser(const Axes& fine, const std::array<bool, layout::axes>& halves) : axes(fine), how{halves} {
  for (std::size_t a = 0; a < layout::axes; ++a) {
    if (!halves[a]) continue;
    how.first[a] = fine[a].first_coarse();
    axes[a] = fine[a].halved();
  }
}

BoxPartition partition_of_rows(const Box& whole, int ranks, Index most_parts, Index least_length) {
  const auto most = [&](int a) { return std::max<Index>(whole.extent(a) / least_length, 1); };
  most_parts = std::clamp<Index>(most_parts, 1, ranks);
  BoxPartition::Parts best{1, 1, 1};
  double least = INFINITY;
  for (Index p = 1; p <= std::min(most(0), most_parts); ++p) {
    const Index q = std::min(most(1), most_parts / p);
    const auto rows = [](Index extent, Index parts) {
      return static_cast<double>(quotient_up(extent, parts) + (parts > 1 ? 2 : 0));
    };
    const double size = rows(whole.extent(0), p) * rows(whole.extent(1), q);
    if (size >= least) continue;
    least = size;
    best = {static_cast<int>(p), static_cast<int>(q), 1};
  }
  return {whole, best, ranks};
}

bool has_rows(const BoxPartition& partition, Index least_length) {
  bool are_long = partition.parts()[2] == 1;
  for (const std::vector<Index>& splits : partition.splits()) {
    for (std::size_t p = 1; splits.size() > 2 && p < splits.size(); ++p) {
      are_long = are_long && splits[p] - splits[p - 1] >= least_length;
    }
  }
  return are_long;
}

BoxPartition coarse_partition(const BoxPartition& aligned, Index most_parts, Index least_length) {
  const Index parts = aligned.number_of_parts();
  if (parts == 1 || (parts <= most_parts && has_rows(aligned, least_length))) return aligned;
  return partition_of_rows(aligned.whole(), aligned.ranks(), std::min(most_parts, parts), least_length);
}

bool is_singular(const Axes& axes) {
  return std::ranges::all_of(axes, [](const Axis& axis) {
    return std::ranges::none_of(axis.sides(), [](Side side) { return side == Side::value; });
  });
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

BoxPartition faces_of(const Axes& axes, const BoxPartition& partition, std::size_t axis) {
  BoxPartition::Splits splits = partition.splits();
  if (!axes[axis].is_periodic()) {
    for (Index& split : splits[axis]) split += split == axes[axis].extent() ? 1 : 0;
  }
  return {splits, partition.ranks()};
}

double largest_jump(mpi::Context& context, const Axes& axes, const BoxPartition& partition, const Coefficient& k) {
  Level level(context, axes, partition);
  Values values = mpi::agreed(context, [&] { return k.points.empty() ? level.zeros() : level.values(k.points); });
  level.exchange(values);
  double largest = 1;
  const auto compare = [&](double here, double there) {
    if (here > 0 && there > 0) largest = std::max({largest, here / there, there / here});
  };
  for (std::size_t d = 0; d < k.faces.size(); ++d) {
    const std::size_t a = first_axis(axes) + d;
    const Box faces = faces_of(axes, partition, a).box(context.rank());
    layout::for_each_point(faces, [&](layout::Point point) {
      const auto value = [&] { return k.faces[d][at(faces.offset_of(point))]; };
      const double above = value();
      if (--point[a] >= faces.low[a]) compare(above, value());
    });
  }
  for (std::size_t a = k.points.empty() ? layout::axes : 0; a < layout::axes; ++a) {
    level.for_each_point([&](std::size_t place, layout::Point point) {
      if (--point[a] < 0 && !axes[a].is_periodic()) return;
      compare(values[place], values[at(level.offset_of(point))]);
    });
  }
  return mpi::all_reduce(context.comm(), largest, mpi::Operation::maximum());
}

void expect_values(const mpi::Context& context, const Given& given, mpi::Alike& arguments) {
  const auto& [axes, partition, k, f, start, boundary, outside] = given;
  arguments.add_type<double>();
  for (const Axis& axis : axes) {
    arguments.add("extent", axis.extent());
    arguments.add("spacing", axis.spacing());
    for (const Side side : axis.sides()) arguments.add("side", side);
  }
  const Box whole = box_of(axes);
  if (partition.whole() != whole || partition.ranks() != context.size()) {
    throw ArgumentError(fmt::format("partition: is of {} over {} ranks, expected {} over {}",
                                    layout::describe(partition.whole()), partition.ranks(), layout::describe(whole),
                                    context.size()));
  }
  const Box own = partition.box(context.rank());
  const auto expect_length = [&](std::string_view name, std::span<const double> values, Index wanted) {
    if (std::ssize(values) == wanted) return;
    throw ArgumentError(fmt::format("{}: has {} values, expected {}", name, values.size(), wanted));
  };
  if (!k.points.empty()) expect_length("k", k.points, own.points());
  expect_length("f", f, own.points());
  if (!start.empty()) expect_length("start", start, own.points());
  const std::size_t dimensions = layout::axes - first_axis(axes);
  arguments.add("faces", static_cast<Index>(k.faces.size()));
  if (!k.faces.empty() && k.faces.size() != dimensions) {
    throw ArgumentError(
        fmt::format("k: has faces across {} axes, expected {}, as the grid has", k.faces.size(), dimensions));
  }
  for (std::size_t d = 0; d < k.faces.size(); ++d) {
    const Box faces = faces_of(axes, partition, first_axis(axes) + d).box(context.rank());
    expect_length(fmt::format("k[{}]", d), k.faces[d], faces.points());
  }
  const auto is_finite = [](double value) { return std::isfinite(value); };
  arguments.add("outside", outside.side);
  if (!outside.points.empty() && std::ssize(outside.points) != own.points()) {
    throw ArgumentError(fmt::format("outside: has {} values, expected {}", outside.points.size(), own.points()));
  }
  if (outside.side == Side::periodic) throw ArgumentError("outside: is periodic, expected flux or value");
  const auto ignored = outside.side == Side::flux ? outside.points : std::vector<bool>();
  const auto is_above_0 = [](double value) { return value > 0 && std::isfinite(value); };
  expect_all("k", k.points, axes, own, "a finite number above 0", is_above_0, ignored);
  expect_all("k", k.points, axes, own, "a number from 1e-100 to 1e100", is_in_range, ignored);
  expect_all("f", f, axes, own, "a finite number", is_finite, outside.points);
  expect_all("start", start, axes, own, "a finite number", is_finite);
}

}  // namespace plait::poisson
