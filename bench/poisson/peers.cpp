#include "bench/poisson/peers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#ifdef PLAIT_HAS_FFTW
#include <fftw3.h>
#endif
#ifdef PLAIT_HAS_HYPRE
#include <HYPRE_struct_ls.h>
#endif

namespace plait::bench {

double PoissonProblem::conductance(Index p, Index q) const {
  const double one = 1 / (spacing() * spacing());
  if (k.empty()) return one;
  const double a = k[static_cast<std::size_t>(p)], b = k[static_cast<std::size_t>(q)];
  return one * 2 * a * b / (a + b);
}

#ifdef PLAIT_HAS_FFTW

std::optional<Contender> sine_transform(const PoissonProblem& problem, std::span<double> u) {
  const auto n = static_cast<int>(problem.extent);
  const std::array<int, 3> extents{n, n, n};
  const std::array<fftw_r2r_kind, 3> kinds{FFTW_RODFT00, FFTW_RODFT00, FFTW_RODFT00};
  const std::shared_ptr<fftw_plan_s> plan(
      fftw_plan_r2r(problem.dimensions, extents.data(), u.data(), u.data(), kinds.data(), FFTW_MEASURE),
      [](fftw_plan p) { fftw_destroy_plan(p); });
  std::vector<double> eigenvalues;
  for (int i = 0; i < n; ++i) {
    const double sine = std::sin(std::numbers::pi * (i + 1) * problem.spacing() / 2) / problem.spacing();
    eigenvalues.push_back(4 * sine * sine);
  }
  const double scale = std::pow(problem.spacing() / 2, problem.dimensions);
  return Contender{"FFTW's sine transform", [plan, eigenvalues, scale, n, &problem, u] {
                     std::ranges::copy(problem.f, u.begin());
                     fftw_execute(plan.get());
                     double* value = u.data();
                     const auto count = static_cast<std::size_t>(n);
                     for (std::size_t i = 0; i < (problem.dimensions == 3 ? count : 1); ++i) {
                       for (std::size_t j = 0; j < count; ++j) {
                         const double others = eigenvalues[j] + (problem.dimensions == 3 ? eigenvalues[i] : 0);
                         for (std::size_t x = 0; x < count; ++x) *value++ *= scale / (others + eigenvalues[x]);
                       }
                     }
                     fftw_execute(plan.get());
                   }};
}

#else

std::optional<Contender> sine_transform(const PoissonProblem& /*problem*/, std::span<double> /*u*/) { return {}; }

#endif

#ifdef PLAIT_HAS_HYPRE

namespace {

class Hypre {
 public:
  Hypre(const PoissonProblem& problem, double tolerance, std::span<double> u)
      : problem_(problem),
        u_(u),
        high_(static_cast<std::size_t>(problem.dimensions), static_cast<int>(problem.extent) - 1) {
    const int dimensions = problem.dimensions;
    HYPRE_Init();
    HYPRE_StructGridCreate(MPI_COMM_SELF, dimensions, &grid_);
    HYPRE_StructGridSetExtents(grid_, low_.data(), high_.data());
    HYPRE_StructGridAssemble(grid_);
    // The point itself, and the one below on each axis: the matrix is symmetric.
    HYPRE_StructStencilCreate(dimensions, dimensions + 1, &stencil_);
    std::array<int, 3> none{};
    HYPRE_StructStencilSetElement(stencil_, 0, none.data());
    for (int a = 0; a < dimensions; ++a) {
      std::array<int, 3> below{};
      below[static_cast<std::size_t>(a)] = -1;
      HYPRE_StructStencilSetElement(stencil_, a + 1, below.data());
    }
    HYPRE_StructMatrixCreate(MPI_COMM_SELF, grid_, stencil_, &matrix_);
    HYPRE_StructMatrixSetSymmetric(matrix_, 1);
    HYPRE_StructMatrixInitialize(matrix_);
    set_matrix();
    HYPRE_StructMatrixAssemble(matrix_);
    for (HYPRE_StructVector* vector : {&b_, &x_}) {
      HYPRE_StructVectorCreate(MPI_COMM_SELF, grid_, vector);
      HYPRE_StructVectorInitialize(*vector);
    }
    HYPRE_StructVectorSetBoxValues(b_, low_.data(), high_.data(), const_cast<double*>(problem.f.data()));
    HYPRE_StructVectorAssemble(b_);
    HYPRE_StructVectorAssemble(x_);
    HYPRE_StructPCGCreate(MPI_COMM_SELF, &solver_);
    HYPRE_StructPCGSetTol(solver_, tolerance);
    HYPRE_StructPCGSetTwoNorm(solver_, 1);
    HYPRE_StructPCGSetMaxIter(solver_, 500);
    HYPRE_StructPFMGCreate(MPI_COMM_SELF, &multigrid_);
    HYPRE_StructPFMGSetMaxIter(multigrid_, 1);
    HYPRE_StructPFMGSetTol(multigrid_, 0);
    HYPRE_StructPFMGSetZeroGuess(multigrid_);
    HYPRE_StructPFMGSetRelaxType(multigrid_, 2);  // red-black Gauss-Seidel, symmetric
    HYPRE_StructPFMGSetRAPType(multigrid_, problem.k.empty() ? 1 : 0);
    HYPRE_StructPCGSetPrecond(solver_, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, multigrid_);
    HYPRE_StructPCGSetup(solver_, matrix_, b_, x_);
  }
  Hypre(const Hypre&) = delete;
  Hypre& operator=(const Hypre&) = delete;
  ~Hypre() {
    HYPRE_StructPCGDestroy(solver_);
    HYPRE_StructPFMGDestroy(multigrid_);
    HYPRE_StructVectorDestroy(b_);
    HYPRE_StructVectorDestroy(x_);
    HYPRE_StructMatrixDestroy(matrix_);
    HYPRE_StructStencilDestroy(stencil_);
    HYPRE_StructGridDestroy(grid_);
  }

  void solve() {
    HYPRE_StructVectorSetConstantValues(x_, 0);
    HYPRE_StructPCGSolve(solver_, matrix_, b_, x_);
    HYPRE_StructVectorGetBoxValues(x_, low_.data(), high_.data(), u_.data());
  }

 private:
  // The last axis of the problem is hypre's first one. k beyond the sides is that of the point.
  void set_matrix() {
    const auto dimensions = static_cast<std::size_t>(problem_.dimensions);
    std::vector<double> values(problem_.f.size() * (dimensions + 1));
    std::vector<int> entries;
    for (std::size_t a = 0; a <= dimensions; ++a) entries.push_back(static_cast<int>(a));
    const Index n = problem_.extent;
    for (Index p = 0; p < problem_.points(); ++p) {
      double* const of_point = values.data() + static_cast<std::size_t>(p) * (dimensions + 1);
      Index step = 1;
      for (std::size_t a = 0; a < dimensions; ++a, step *= n) {
        const Index place = p / step % n;
        const double below = problem_.conductance(p, place > 0 ? p - step : p);
        of_point[0] += below + problem_.conductance(p, place + 1 < n ? p + step : p);
        of_point[a + 1] = place > 0 ? -below : 0;
      }
    }
    HYPRE_StructMatrixSetBoxValues(matrix_, low_.data(), high_.data(), static_cast<int>(entries.size()), entries.data(),
                                   values.data());
  }

  const PoissonProblem& problem_;
  std::span<double> u_;
  std::vector<int> low_ = std::vector<int>(3), high_;
  HYPRE_StructGrid grid_{};
  HYPRE_StructStencil stencil_{};
  HYPRE_StructMatrix matrix_{};
  HYPRE_StructVector b_{}, x_{};
  HYPRE_StructSolver solver_{}, multigrid_{};
};

}  // namespace

std::optional<Contender> hypre(const PoissonProblem& problem, double tolerance, std::span<double> u) {
  const auto solver = std::make_shared<Hypre>(problem, tolerance, u);
  return Contender{"hypre PCG + PFMG", [solver] { solver->solve(); }};
}

#else

std::optional<Contender> hypre(const PoissonProblem& /*problem*/, double /*tolerance*/, std::span<double> /*u*/) {
  return {};
}

#endif

}  // namespace plait::bench
