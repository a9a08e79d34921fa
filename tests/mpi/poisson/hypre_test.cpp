// Random problems by plait, and by hypre's conjugate gradients with its algebraic multigrid.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "plait/mpi/context.hpp"
#include "plait/poisson/solver.hpp"

#include "mpi/poisson/problems.hpp"
#include "support/ranks.hpp"

#ifdef PLAIT_HAS_HYPRE
#include <HYPRE.h>
#include <HYPRE_parcsr_ls.h>
#endif

namespace plait::test {
namespace {

#ifdef PLAIT_HAS_HYPRE

// x with A x = b, on each rank by itself.
std::vector<double> by_hypre(const Equations& equations, bool has_multigrid) {
  const auto n = static_cast<HYPRE_Int>(equations.b.size());
  HYPRE_IJMatrix matrix = nullptr;
  HYPRE_IJMatrixCreate(MPI_COMM_SELF, 0, n - 1, 0, n - 1, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(matrix);
  std::vector<HYPRE_BigInt> numbers;
  for (HYPRE_BigInt row = 0; row < n; ++row) {
    numbers.push_back(row);
    std::vector<HYPRE_BigInt> columns;
    std::vector<double> values;
    for (HYPRE_BigInt column = 0; column < n; ++column) {
      const double value = equations.a[at(row) * at(n) + at(column)];
      if (value == 0) continue;
      columns.push_back(column);
      values.push_back(value);
    }
    auto count = static_cast<HYPRE_Int>(columns.size());
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &row, columns.data(), values.data());
  }
  HYPRE_IJMatrixAssemble(matrix);
  HYPRE_ParCSRMatrix a = nullptr;
  HYPRE_IJMatrixGetObject(matrix, reinterpret_cast<void**>(&a));
  std::vector<double> x(at(n));
  const auto vector_of = [&](const std::vector<double>& values, HYPRE_ParVector& of_solver) {
    HYPRE_IJVector vector = nullptr;
    HYPRE_IJVectorCreate(MPI_COMM_SELF, 0, n - 1, &vector);
    HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(vector);
    HYPRE_IJVectorSetValues(vector, n, numbers.data(), values.data());
    HYPRE_IJVectorAssemble(vector);
    HYPRE_IJVectorGetObject(vector, reinterpret_cast<void**>(&of_solver));
    return vector;
  };
  HYPRE_ParVector from = nullptr, to = nullptr;
  HYPRE_IJVector right_side = vector_of(equations.b, from), solution = vector_of(x, to);
  HYPRE_Solver gradients = nullptr, multigrid = nullptr;
  HYPRE_ParCSRPCGCreate(MPI_COMM_SELF, &gradients);
  HYPRE_PCGSetMaxIter(gradients, 1000);
  HYPRE_PCGSetTwoNorm(gradients, 1);
  HYPRE_PCGSetTol(gradients, 1e-13);
  HYPRE_BoomerAMGCreate(&multigrid);
  HYPRE_BoomerAMGSetMaxIter(multigrid, 1);
  HYPRE_BoomerAMGSetTol(multigrid, 0);
  if (has_multigrid) {
    HYPRE_PCGSetPrecond(gradients, reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSolve),
                        reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSetup), multigrid);
  }
  HYPRE_ParCSRPCGSetup(gradients, a, from, to);
  HYPRE_ParCSRPCGSolve(gradients, a, from, to);
  HYPRE_IJVectorGetValues(solution, n, numbers.data(), x.data());
  HYPRE_BoomerAMGDestroy(multigrid);
  HYPRE_ParCSRPCGDestroy(gradients);
  HYPRE_IJVectorDestroy(solution);
  HYPRE_IJVectorDestroy(right_side);
  HYPRE_IJMatrixDestroy(matrix);
  HYPRE_ClearAllErrors();  // such as that rounding leaves more than the tolerance
  return x;
}

TEST(PoissonAndHypre, SolveRandomProblemsAlike) {
  mpi::Context context(test_comm());
  HYPRE_Init();
  const std::uint64_t problems = ranks() == 1 ? 200 : 50;
  const auto first = 1000 * static_cast<std::uint64_t>(ranks());  // each number of ranks has problems of its own
  for (std::uint64_t seed = first; seed < first + problems; ++seed) {
    Random random{seed};
    Case problem = random_case(random, seed % 4 != 0, 2);
    if (seed % 2 == 0) {  // contrasts of up to 400
      for (double& k : problem.k) k = std::pow(k, 6);
    }
    Equations equations = equations_of(problem);
    if (problem.is_singular()) {  // so that the mean is 0, but what multigrid takes for near is not
      for (double& entry : equations.a) entry += 1;
    }
    const std::vector<double> expected = by_hypre(equations, !problem.is_singular());
    double size = 0;
    for (const double value : expected) size = std::max(size, std::abs(value));
    const BoxPartition partition = BoxPartition::for_ranks(problem.box(), ranks());
    constexpr std::array others{Method::conjugate_gradients, Method::pipelined_conjugate_gradients, Method::sor};
    for (const Method method : {Method::multigrid_conjugate_gradients, others[seed % others.size()]}) {
      Options options{.method = method, .limits = {.tolerance = 1e-11}, .project = true};
      options.multigrid.least_points_per_rank = 8;
      const Solved solved = solve(context, problem, partition, options);
      for (std::size_t p = 0; p < expected.size(); ++p) {
        ASSERT_NEAR(solved.u[p], expected[p], 1e-8 * size) << "seed " << seed << ", " << name(method);
      }
    }
  }
  HYPRE_Finalize();
}

#else

TEST(PoissonAndHypre, SolveRandomProblemsAlike) { GTEST_SKIP() << "there is no hypre for this MPI"; }

#endif

}  // namespace
}  // namespace plait::test
