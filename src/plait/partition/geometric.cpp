#include "plait/partition/geometric.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
#include "plait/graph/graph.hpp"
#include "plait/layout/curve.hpp"
#include "plait/partition/partition.hpp"

namespace plait::partition {

namespace {

/// Vertices that are put in order by a key, and by number where keys are equal.
template <class Key>
using Keyed = std::pair<Key, graph::Vertex>;

/// All vertices, to be given keys.
template <class Key>
std::vector<Keyed<Key>> keyed(std::size_t count) {
  std::vector<Keyed<Key>> vertices(count);
  for (std::size_t v = 0; v < count; ++v) vertices[v].second = static_cast<graph::Vertex>(v);
  return vertices;
}

template <class Key>
Index total(std::span<const Keyed<Key>> vertices, const graph::Weights& weights) {
  if (weights.empty()) return static_cast<Index>(vertices.size());
  Index sum = 0;
  for (const auto& one : vertices) sum += weights[at(one.second)];
  return sum;
}

/// Puts the lightest vertices by key first, in no order, so that the first `result` of them weigh as near to `wanted`
/// as can be; at least `least` are on each side.
template <class Key>
std::size_t split(std::span<Keyed<Key>> vertices, const graph::Weights& weights, Index wanted,
                  std::pair<std::size_t, std::size_t> least) {
  const auto select = [&](std::size_t begin, std::size_t place, std::size_t end) {
    const auto some = vertices.first(end).subspan(begin);
    std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(place - begin), some.end());
  };
  if (weights.empty()) {
    select(0, at(wanted), vertices.size());
    return at(wanted);
  }
  std::size_t begin = 0;
  std::size_t end = vertices.size();
  Index before = 0;
  while (end - begin > 1) {
    const std::size_t middle = begin + (end - begin) / 2;
    select(begin, middle, end);
    const Index lower = total<Key>(vertices.subspan(begin, middle - begin), weights);
    if (before + lower > wanted) {
      end = middle;
    } else {
      before += lower;
      begin = middle;
    }
  }
  // Those before `begin` weigh `wanted` at most, and the one there would be too much: on which side is it nearer?
  if (begin < end && wanted - before > before + weights[at(vertices[begin].second)] - wanted) ++begin;
  const std::size_t place = std::clamp(begin, least.first, vertices.size() - least.second);
  if (place != begin) select(0, std::min(place, vertices.size() - 1), vertices.size());
  return place;
}

/// The least box around some vertices.
struct Box {
  std::array<double, 3> low{};
  std::array<double, 3> high{};

  template <class Key>
  Box(const Points& points, std::span<const Keyed<Key>> vertices) {
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-std::numeric_limits<double>::infinity());
    for (const auto& one : vertices) {
      for (int i = 0; i < points.dimensions; ++i) {
        low[at(i)] = std::min(low[at(i)], points.of(one.second)[i]);
        high[at(i)] = std::max(high[at(i)], points.of(one.second)[i]);
      }
    }
  }
};

/// The direction across which the halves are cut: an axis, or the principal one.
std::array<double, 3> direction(Method method, const Points& points, std::span<const Keyed<double>> vertices) {
  const int d = points.dimensions;
  const auto [low, high] = Box(points, vertices);
  int longest = 0;
  for (int i = 1; i < d; ++i) {
    if (high[at(i)] - low[at(i)] > high[at(longest)] - low[at(longest)]) longest = i;
  }
  std::array<double, 3> axis{};
  axis[at(longest)] = 1;
  const double extent = high[at(longest)] - low[at(longest)];
  if (method != Method::inertial || !(extent > 0) || !std::isfinite(extent)) return axis;
  std::array<double, 3> mean{};
  std::array<std::array<double, 3>, 3> moments{};
  const auto count = static_cast<double>(vertices.size());
  for (const auto& one : vertices) {
    for (int i = 0; i < d; ++i) mean[at(i)] += (points.of(one.second)[i] - low[at(i)]) / extent / count;
  }
  for (const auto& one : vertices) {
    for (int i = 0; i < d; ++i) {
      for (int j = 0; j < d; ++j) {
        moments[at(i)][at(j)] += ((points.of(one.second)[i] - low[at(i)]) / extent - mean[at(i)]) *
                                 ((points.of(one.second)[j] - low[at(j)]) / extent - mean[at(j)]);
      }
    }
  }
  // The power of the matrix that is high enough for any direction that matters.
  for (int squaring = 0; squaring < 30; ++squaring) {
    double largest = 0;
    for (const auto& row : moments) {
      for (const double value : row) largest = std::max(largest, std::abs(value));
    }
    if (!(largest > 0)) return axis;
    std::array<std::array<double, 3>, 3> square{};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        for (std::size_t l = 0; l < 3; ++l) square[i][j] += moments[i][l] / largest * (moments[l][j] / largest);
      }
    }
    moments = square;
  }
  return *std::ranges::max_element(moments, {}, [](const auto& row) { return std::hypot(row[0], row[1], row[2]); });
}

void halve(Method method, const Points& points, std::span<Keyed<double>> vertices, const graph::Weights& weights,
           int parts, int first_part, std::span<int> part) {
  if (parts == 1) {
    for (const auto& one : vertices) part[at(one.second)] = first_part;
    return;
  }
  const auto across = direction(method, points, vertices);
  for (auto& one : vertices) {
    one.first = 0;
    for (int i = 0; i < points.dimensions; ++i) {
      if (across[at(i)] != 0) one.first += across[at(i)] * points.of(one.second)[i];
    }
  }
  const int half = parts / 2;
  const std::size_t place = split<double>(vertices, weights, portion(total<double>(vertices, weights), half, parts),
                                          {at(half), at(parts - half)});
  halve(method, points, vertices.first(place), weights, half, first_part, part);
  halve(method, points, vertices.subspan(place), weights, parts - half, first_part + half, part);
}

template <std::size_t D>
void cut_curve(Method method, const Points& points, const graph::Weights& weights, int parts, std::span<int> part) {
  auto order = keyed<std::uint64_t>(part.size());
  const auto [low, high] = Box(points, std::span<const Keyed<std::uint64_t>>(order));
  double extent = 0;  // one for all coordinates, so that cells are cubes; halves, as the whole may overflow
  for (std::size_t i = 0; i < D; ++i) extent = std::max(extent, high[i] / 2 - low[i] / 2);
  constexpr double cells = static_cast<double>(std::uint32_t{1} << static_cast<unsigned>(layout::curve_bits<D>)) - 1;
  for (auto& [key, v] : order) {
    layout::Cell<D> cell{};
    for (std::size_t i = 0; i < D; ++i) {
      const double share = extent > 0 ? (points.of(v)[i] / 2 - low[i] / 2) / extent : 0;
      cell[i] = static_cast<std::uint32_t>(share * cells);
    }
    key = method == Method::hilbert ? layout::hilbert_key<D>(cell) : layout::morton_key<D>(cell);
  }
  std::sort(order.begin(), order.end());
  // Where the sum of weights passes a multiple of the even share, to the nearest vertex.
  const Index all = total<std::uint64_t>(order, weights);
  std::size_t next = 0;
  Index before = 0;
  for (int p = 0; p < parts; ++p) {
    const Index wanted = portion(all, p + 1, parts);
    const std::size_t last = order.size() - at(parts - 1 - p);  // the parts to come need a vertex each
    const std::size_t begin = next;
    while (next < last) {
      const Index weight = weights.empty() ? 1 : weights[at(order[next].second)];
      const bool is_nearer = before + weight - wanted <= wanted - before;
      if (next > begin && p + 1 < parts && !is_nearer) break;
      before += weight;
      part[at(order[next++].second)] = p;
    }
  }
}

}  // namespace

void expect_points(const Points& points, Index vertices) {
  if (points.dimensions != 2 && points.dimensions != 3) {
    throw ArgumentError(fmt::format("the points have {} coordinates; expected 2 or 3", points.dimensions));
  }
  if (static_cast<Index>(points.coordinates.size()) != vertices * points.dimensions) {
    throw ArgumentError(fmt::format("the points are {}; expected {}, one for each vertex",
                                    static_cast<Index>(points.coordinates.size()) / points.dimensions, vertices));
  }
  for (std::size_t i = 0; i < points.coordinates.size(); ++i) {
    if (std::isfinite(points.coordinates[i])) continue;
    throw ArgumentError(fmt::format("the point {} has the coordinate {}; expected finite ones",
                                    i / at(points.dimensions), points.coordinates[i]));
  }
}

std::vector<int> by_geometry(Method method, const Points& points, const graph::Weights& weights, int parts) {
  const std::size_t n = points.coordinates.size() / at(points.dimensions);
  std::vector<int> part(n);
  if (method == Method::hilbert || method == Method::morton) {
    points.dimensions == 2 ? cut_curve<2>(method, points, weights, parts, part)
                           : cut_curve<3>(method, points, weights, parts, part);
    return part;
  }
  auto vertices = keyed<double>(n);
  halve(method, points, vertices, weights, parts, 0, part);
  return part;
}

}  // namespace plait::partition
