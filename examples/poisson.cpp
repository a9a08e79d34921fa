// Solves -∇·(k ∇u) = f on the unit square by multigrid, u = 0 on its sides, for k = 1 + x and an f of which the
// solution is known: u = sin πx · sin πy.
//
//   mpirun -n 4 build/openmpi/bin/example_poisson

#include "plait/poisson.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "plait/mpi.hpp"

using plait::Index;
namespace poisson = plait::poisson;
namespace layout = plait::layout;

int main(int argc, char** argv) {
  const plait::mpi::Environment mpi(argc, argv, MPI_COMM_WORLD);
  plait::mpi::Context context(MPI_COMM_WORLD);
  constexpr double pi = std::numbers::pi;
  constexpr Index n = 200;
  constexpr double h = 1.0 / n;

  const poisson::Grid grid{.extents = {n, n}, .spacing = {h, h}};
  const auto partition = layout::BoxPartition::for_ranks(grid.box(), context.size());
  const layout::Box own = partition.box(context.rank());
  std::vector<double> k, f, exact;
  for (Index j = own.low[1]; j < own.high[1]; ++j) {
    for (Index i = own.low[2]; i < own.high[2]; ++i) {
      const double x = (static_cast<double>(i) + 0.5) * h, y = (static_cast<double>(j) + 0.5) * h;
      exact.push_back(std::sin(pi * x) * std::sin(pi * y));
      k.push_back(1 + x);
      f.push_back((1 + x) * 2 * pi * pi * exact.back() - pi * std::cos(pi * x) * std::sin(pi * y));
    }
  }
  poisson::Solver solver(context, grid, partition, k, f, {}, {.method = poisson::Method::v_cycles});
  plait::iterate::run(solver);
  std::vector<double> u(f.size());
  solver.copy_solution(u);

  double error = 0;
  for (std::size_t p = 0; p < u.size(); ++p) error = std::max(error, std::abs(u[p] - exact[p]));
  error = plait::mpi::all_reduce(context.comm(), error, plait::mpi::Operation::maximum());
  const bool fits = solver.state().end == plait::iterate::End::converged && error < h * h;
  if (context.rank() == 0) {
    std::printf("%d cycles, error %.2g: %s\n", static_cast<int>(solver.state().step), error, fits ? "ok" : "wrong");
  }
  return fits ? 0 : 1;
}
