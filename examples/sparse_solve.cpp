// Solves A·x = b by conjugate gradients, for a symmetric positive definite A and b = A·(1, 1, …): with rows dealt to
// ranks as they are numbered, then by the parts of the graph of A, which need fewer elements of others (ghosts).
//
//   mpirun -n 4 build/openmpi/bin/example_sparse_solve A.mtx
//
// Without a file A is the Laplacian of a grid, plus 0.1, with rows and columns in random order.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "plait/io.hpp"
#include "plait/iterate.hpp"
#include "plait/krylov.hpp"
#include "plait/mpi.hpp"
#include "plait/partition.hpp"
#include "plait/sparse.hpp"

namespace {

using plait::at;
using plait::Index;
using Matrix = plait::sparse::Matrix<double>;
using Rows = plait::sparse::Rows<double>;
namespace mpi = plait::mpi;

Rows read(mpi::Context& context, const char* path) {
  const auto header = plait::io::read_matrix_market_header(context, path);
  auto own = plait::io::read_matrix_market_rows<double>(context, path, header);
  return {std::move(own.starts), {own.columns.begin(), own.columns.end()}, std::move(own.values)};
}

Rows shuffled_grid(const mpi::Context& context) {
  constexpr Index edge = 60, n = edge * edge;
  std::vector<Index> number(n), point(n);
  std::iota(number.begin(), number.end(), Index{0});
  std::ranges::shuffle(number, std::mt19937(1));
  for (Index p = 0; p < n; ++p) point[at(number[at(p)])] = p;
  Rows rows;
  for (Index row = n * context.rank() / context.size(); row < n * (context.rank() + 1) / context.size(); ++row) {
    const Index p = point[at(row)], x = p % edge, y = p / edge;
    std::map<Index, double> entries{{row, 4.1}};
    if (x > 0) entries[number[at(p - 1)]] = -1;
    if (x + 1 < edge) entries[number[at(p + 1)]] = -1;
    if (y > 0) entries[number[at(p - edge)]] = -1;
    if (y + 1 < edge) entries[number[at(p + edge)]] = -1;
    for (const auto& [column, value] : entries) {
      rows.columns.push_back(column);
      rows.values.push_back(value);
    }
    rows.offsets.push_back(std::ssize(rows.columns));
  }
  return rows;
}

// The rows of each part one after the other, those of part r for rank r.
Rows by_parts(mpi::Context& context, const Matrix& a) {
  std::vector<std::array<plait::graph::Vertex, 2>> edges;
  a.for_each_entry([&](Index row, Index column, double) {
    if (row < column) edges.push_back({static_cast<int>(row), static_cast<int>(column)});
  });
  std::vector<std::pair<plait::graph::Vertex, plait::graph::Vertex>> pairs;
  for (const auto& [u, v] : mpi::gather_on_all<std::array<int, 2>>(context.comm(), edges)) pairs.emplace_back(u, v);
  const auto graph = plait::graph::graph_of_pairs(a.rows(), pairs);
  const std::vector<int> part = plait::partition::partition(context, graph.view(), {}, {.parts = context.size()}).part;

  std::vector<Index> next(at(context.size()) + 1), numbers;
  for (const int p : part) ++next[at(p) + 1];
  const Index own_rows = next[at(context.rank()) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (Index row = 0; row < a.rows(); ++row) {
    const Index number = next[at(part[at(row)])]++;
    if (row >= a.first_row() && row < a.first_row() + a.own_rows()) numbers.push_back(number);
  }
  return plait::sparse::renumbered<double>(a, numbers, own_rows);
}

struct Outcome {
  Index ghosts = 0;  // of all ranks
  bool fits = false;
};

Outcome solve(mpi::Context& context, Matrix& a, const char* how) {
  std::vector<double> x(at(a.own_rows()), 1), b(x.size());
  a.multiply(x, b);
  std::ranges::fill(x, 0.0);
  plait::krylov::ConjugateGradient<double> solver(
      context, {[&](std::span<const double> in, std::span<double> out) { a.multiply(in, out); }, b, x},
      {.limits = {.tolerance = 1e-10, .most_iterations = 10'000}});
  plait::iterate::run(solver);

  double error = 0;
  for (const double value : x) error = std::max(error, std::abs(value - 1));
  error = mpi::all_reduce(context.comm(), error, mpi::Operation::maximum());
  const Index own = std::ssize(a.ghosts());
  const Index all = mpi::all_reduce(context.comm(), own, mpi::Operation::sum());
  const Index most = mpi::all_reduce(context.comm(), own, mpi::Operation::maximum());
  const bool fits = solver.state().end == plait::iterate::End::converged;
  if (context.rank() == 0) {
    std::printf("%s: %lld ghosts, %lld on a rank at most; %lld iterations, error %.2g: %s\n", how,
                static_cast<long long>(all), static_cast<long long>(most), static_cast<long long>(solver.state().step),
                error, fits ? "ok" : "not converged");
  }
  return {all, fits};
}

}  // namespace

int main(int argc, char** argv) {
  const mpi::Environment environment(argc, argv, MPI_COMM_WORLD);
  mpi::Context context(MPI_COMM_WORLD);
  try {
    Matrix a(context, argc > 1 ? read(context, argv[1]) : shuffled_grid(context));
    if (const auto wrong = plait::sparse::asymmetry_of(a)) {
      if (context.rank() == 0) {
        std::fprintf(stderr, "not symmetric: row %lld, column %lld (from 0) differs by %g from the other side\n",
                     static_cast<long long>(wrong->row), static_cast<long long>(wrong->column), wrong->difference);
      }
      return 1;
    }
    const Outcome before = solve(context, a, "rows as numbered");
    Matrix parts(context, by_parts(context, a));
    const Outcome after = solve(context, parts, "rows by parts");
    const bool fits = before.fits && after.fits && (argc > 1 || 5 * after.ghosts <= before.ghosts);
    return fits ? 0 : 1;
  } catch (const std::exception& error) {  // on all ranks alike
    if (context.rank() == 0) std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
