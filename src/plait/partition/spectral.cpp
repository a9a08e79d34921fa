#include "plait/partition/spectral.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "plait/base/random.hpp"
#include "plait/base/rounding.hpp"
#include "plait/krylov/lanczos.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/partition/bisection.hpp"
#include "plait/sparse/matrix.hpp"

namespace plait::partition {

using graph::GraphView;
using graph::Vertex;

namespace {

constexpr std::size_t most_vectors = 3;
constexpr double same_value = 1.01;
constexpr krylov::LanczosOptions lanczos_options{
    .tolerance = 1e-4, .most_steps = 20'000, .sums = krylov::Sums::reproducible};

/// L's rows of some vertices.
sparse::Rows<double> laplacian_rows(const GraphView& graph, Index begin, Index end) {
  sparse::Rows<double> rows;
  std::vector<std::pair<Index, double>> row;
  for (Index v = begin; v < end; ++v) {
    row.assign(1, {v, 0});
    graph.for_each_neighbour(v, [&](Vertex u, Index weight) {
      row.emplace_back(u, -static_cast<double>(weight));
      row[0].second += static_cast<double>(weight);
    });
    std::ranges::sort(row);
    for (const auto& [column, value] : row) {
      rows.columns.push_back(column);
      rows.values.push_back(value);
    }
    rows.offsets.push_back(std::ssize(rows.columns));
  }
  return rows;
}

/// The vertices of a connected graph in the order of a combination of its Fiedler vectors: of that of which a cut at
/// `wanted` weighs least. Collective.
Line best_line(mpi::Context& context, const GraphView& graph, const Fiedler& found, Index wanted,
               std::pair<int, int> least_vertices, std::uint64_t seed) {
  const std::size_t dimension = found.vectors.size();
  const auto line_of = [&](const std::array<double, most_vectors>& direction) {
    Line line(at(graph.vertices()));
    for (std::size_t v = 0; v < line.size(); ++v) {
      double value = 0;
      for (std::size_t d = 0; d < dimension; ++d) value += direction[d] * found.vectors[d][v];
      line[v] = {value, static_cast<Vertex>(v)};
    }
    std::ranges::sort(line);
    return line;
  };
  std::array<double, most_vectors> best{1, 0, 0};
  if (dimension == 1) return line_of(best);
  Index least = std::numeric_limits<Index>::max();
  // Directions all around, and then around the best one, each time nearer.
  constexpr int around = 64;
  for (int round = 0; round < 5; ++round) {
    const auto centre = best;
    const double reach = round == 0 ? 1 : .5 / std::pow(4, round);
    const auto direction = [&](int i) {
      auto to = centre;
      for (std::size_t d = 0; d < dimension; ++d) {
        const auto counter = (static_cast<std::uint64_t>(round * around + i) * most_vectors) + d;
        to[d] = (round == 0 ? 0 : centre[d]) + reach * (2 * random_uniform(seed, counter) - 1);
      }
      return to;
    };
    // Each rank tries some; the first one of the best is taken.
    std::pair<Index, int> mine{std::numeric_limits<Index>::max(), 0};
    mpi::agreed(context, [&] {
      for (int i = context.rank(); i < around; i += context.size()) {
        const Line line = line_of(direction(i));
        mine = std::min(mine, {cut_of(graph, sides_of(line, median(graph, line, wanted, least_vertices))), i});
      }
    });
    const auto all = mpi::all_gather(context.comm(), std::array{mine.first, Index{mine.second}});
    const auto [cut, i] = *std::ranges::min_element(all);
    if (cut >= least) continue;
    least = cut;
    best = direction(static_cast<int>(i));
    const double length = std::hypot(best[0], best[1], best[2]);
    for (double& element : best) element /= length;
  }
  return line_of(best);
}

/// The vertices of a graph in an order of which a cut at `wanted` weighs little. Collective.
/// \param found  becomes λ₂ of the graph, but without vectors
Line cut_line(mpi::Context& context, const GraphView& graph, Index wanted, std::pair<int, int> least,
              std::uint64_t seed, Fiedler& found) {
  const auto components = graph::components_of(graph);
  if (components.count == 1) {
    found = fiedler(context, graph, seed);
    Line line = best_line(context, graph, found, wanted, least, seed);
    found.vectors.clear();
    return line;
  }
  // One component after the other; that of the median by itself.
  Line line;
  for (Vertex v = 0; v < graph.vertices(); ++v) line.emplace_back(components.of[v], v);
  std::ranges::sort(line);
  const std::size_t place = std::min(median(graph, line, wanted, least), line.size() - 1);
  const double middle = line[place].first;
  const auto begin = std::ranges::lower_bound(line, middle, {}, &Line::value_type::first);
  const std::span earlier(line.begin(), begin);
  const std::span own(begin, std::ranges::upper_bound(line, middle, {}, &Line::value_type::first));
  if (own.size() < 2 || earlier.size() == place) return line;
  std::vector<Vertex> vertices;
  for (const auto& [component, v] : own) vertices.push_back(v);
  Index before = 0;
  for (const auto& [component, v] : earlier) before += graph.weight(v);
  std::vector<Vertex> number(at(graph.vertices()));
  const auto piece = subgraph(graph, vertices, number);
  const Line inner = best_line(context, piece.view(), fiedler(context, piece.view(), seed), wanted - before, {}, seed);
  for (std::size_t i = 0; i < inner.size(); ++i) own[i].second = vertices[at(inner[i].second)];
  return line;
}

}  // namespace

double Fiedler::least_cut(Index few, Index vertices) const {
  const auto a = static_cast<double>(few);
  const auto n = static_cast<double>(vertices);
  return std::max(0.0, value - residual) * a * (n - a) / n;
}

Fiedler fiedler(mpi::Context& context, const GraphView& graph, std::uint64_t seed) {
  const Index n = graph.vertices();
  const Index begin = portion(n, context.rank(), context.size());
  const Index end = portion(n, context.rank() + 1, context.size());
  const auto own = [&](std::span<const double> whole) { return whole.subspan(at(begin), at(end - begin)); };
  Fiedler result;
  std::vector<double> ones, x;
  sparse::Matrix<double> matrix(context, mpi::agreed(context, [&](mpi::Alike& alike) {
                                  alike.add("vertices", n);
                                  alike.add("seed", seed);
                                  ones.assign(at(end - begin), 1);
                                  x = ones;
                                  result.vectors.reserve(most_vectors);
                                  return laplacian_rows(graph, begin, end);
                                }));
  const krylov::Operator<double> laplacian = [&](std::span<const double> in, std::span<double> out) {
    matrix.multiply(in, out);
  };
  krylov::Dots dots(context, krylov::Sums::reproducible);
  const auto project = [&](std::span<double> vector) {
    dots.add<double>(0, ones, vector);
    for (std::size_t i = 0; i < result.vectors.size(); ++i) dots.add<double>(i + 1, own(result.vectors[i]), vector);
    dots.begin();
    dots.finish();
    const double mean = dots[0] / static_cast<double>(n);
    for (std::size_t v = 0; v < vector.size(); ++v) {
      vector[v] -= mean;
      for (std::size_t i = 0; i < result.vectors.size(); ++i) vector[v] -= dots[i + 1] * own(result.vectors[i])[v];
    }
  };
  while (result.vectors.size() < std::min(most_vectors, at(n - 1))) {
    for (Index v = begin; v < end; ++v) {
      x[at(v - begin)] = random_uniform(seed + result.vectors.size(), static_cast<std::uint64_t>(v)) - .5;
    }
    const auto found = krylov::lowest_eigenvector(context, laplacian, x, lanczos_options, project);
    if (!result.vectors.empty() && (found.steps == 0 || found.value > same_value * result.value)) break;
    if (result.vectors.empty() || found.value < result.value) result.value = found.value;
    result.residual = std::max(result.residual, found.residual);
    result.vectors.push_back(mpi::gather_on_all(context.comm(), std::span<const double>(x)));
  }
  return result;
}

std::pair<std::vector<int>, Fiedler> spectral(mpi::Context& context, const GraphView& graph, int parts,
                                              std::uint64_t seed) {
  std::optional<Fiedler> of_all;
  auto part = by_halves(graph, {parts, 0, seed}, [&](const GraphView& piece, const Halving& halves) {
    Fiedler found;
    const std::pair least(halves.few(), halves.many());
    const Index wanted = halves.wanted(piece.total_weight());
    const Line line = cut_line(context, piece, wanted, least, halves.seed, found);
    if (!of_all) of_all = std::move(found);
    return sides_of(line, median(piece, line, wanted, least));
  });
  return {std::move(part), std::move(of_all).value_or(Fiedler{})};
}

}  // namespace plait::partition
