#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

namespace plait::sinkhorn {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// What transport is computed with.
enum class Domain : unsigned char {
  automatic,    ///< factors, where costs allow it; logarithms where factors overflow, or where rows or columns starve
  factors,      ///< exp(-C / epsilon) is stored beside the costs, and scaled
  logarithmic,  ///< potentials: one read of the costs and one exponential an entry
};

/// What it costs to miss the masses: rho KL(sums | masses), with KL(p | q) = Σ p log(p / q) - p + q. Infinite where
/// they must not be missed.
struct Rho {
  double rows = infinity;
  double columns = infinity;

  [[nodiscard]] bool is_balanced() const noexcept { return rows == infinity && columns == infinity; }
};

/// One epsilon on the way.
struct TransportStage {
  double epsilon = 0;
  Index iterations = 0;
  Domain domain = Domain::logarithmic;  // in which it ended
};

struct TransportOptions {
  double epsilon = 0;  // of the costs' unit
  Domain domain = Domain::automatic;
  /// With what epsilon to begin; it is divided by 4 until it is `epsilon`, each time beginning with the potentials of
  /// the time before. 0: chosen by the costs.
  double first_epsilon = 0;
  Limits limits = {};
  Rho rho = {};  // unbalanced transport, where one of them is finite
};

/// What potentials leave out of costs that are too large for the precision, while their differences are not: nothing as
/// a rule. As these numbers and potentials have no sum that is exact enough, they are kept apart.
struct CostOffsets {
  std::vector<double> rows = {};  // of this rank
  std::vector<double> columns = {};

  [[nodiscard]] bool empty() const noexcept { return rows.empty() && columns.empty(); }
  /// Potentials of the costs themselves, as exact as these can be.
  template <class A>
  static void add(std::vector<A>& potentials, const std::vector<double>& offsets) {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      potentials[i] = static_cast<A>(static_cast<double>(potentials[i]) + offsets[i]);
    }
  }
};

/// What belongs to a plan.
struct TransportValues {
  double cost = 0;               // Σ C P; of offsets, Σ of these times the masses that are wanted
  double mass = 0;               // Σ P
  double row_divergence = 0;     // KL(sums of P | masses), where rho is finite
  double column_divergence = 0;  //
  double primal = 0;             // Σ C P + epsilon Σ P (log P - 1) + rho times the divergences
  double dual = 0;  // Σ f r + Σ g c - epsilon Σ P; -rho Σ r (exp(-f / rho) - 1) in place of a sum where rho is finite
  [[nodiscard]] double gap() const noexcept { return primal - dual; }
};

/// The plan is P(i, j) = exp((f[i] + g[j] - C(i, j)) / epsilon), where there are offsets with C(i, j) - offsets.rows[i]
/// - offsets.columns[j] in place of C(i, j).
template <class A>
struct Transport : TransportValues {
  Outcome outcome;  // of the last stage
  std::vector<TransportStage> stages;
  std::vector<A> f;  // of this rank's rows, in the costs' unit; -infinity where there is no mass, all NaN where
                     // numbers left their range (numerical_limit), and there is no plan
  std::vector<A> g;  // of all columns; the same on all ranks
  CostOffsets offsets = {};
};

/// Entropic optimal transport: the plan P >= 0 of the marginals that minimises  Σ C P + epsilon Σ P (log P - 1).
///
/// Costs may be negative, +infinity for what is forbidden, and as large as numbers are as long as they differ by less
/// than that within a row or within a column, where sums of these must not be missed. T and A: double, float, or float
/// computed with as double. In the logarithmic domain the old potential of a row keeps its exponentials in range, so
/// that the sums of columns are sums of entries of the plan, which can't overflow; a row whose sum is nevertheless 0 or
/// infinite is taken again with its true maximum, a column by an exact sum of logarithms.
///
/// **Unbalanced**: where rho is finite, sums of rows (columns) may be missed, which adds  rho KL(sums | masses)  to
/// what is minimised; the masses of rows and columns need not have one total. At the minimum row i sums up to r[i]
/// exp(-f[i] / rho), and the error is what the columns' sums are off by of such ones, relative to these. What can't be
/// reached at all (only costs of +infinity) stays where it is.
///
/// Collective over `context`. Rows are distributed as for `scale`.
///
/// \param start  potentials of the columns to begin with; empty: zeros
/// \throws ArgumentError  on all ranks: an epsilon that is not positive and finite, a first one below it, a
///                        rho that is not positive; as `checked_marginals` and `check_costs`; a matrix that is not
///                        row-major; a start of another length or with potentials that are not finite
///
/// Sources: Cuturi, "Sinkhorn distances", 2013; Schmitzer, "Stabilized sparse scaling algorithms", 2019; Chizat et
/// al., "Scaling algorithms for unbalanced transport problems", 2018; Séjourné et al., see `translation`.
template <class T, class A>
[[nodiscard]] Transport<A> transport(mpi::Context& context, matrix_view<const T> costs, const Marginals& marginals,
                                     const TransportOptions& options, std::span<const A> start = {});

/// `transport` with the costs C(i, j) = metric(x(i), y(j)), in the logarithmic domain: besides the points a rank needs
/// memory for eight rows of the plan a thread at most. Costs are as exact as the differences of coordinates.
///
/// The plan is P(i, j) = exp((f[i] + g[j] - C(i, j)) / epsilon). Where no first epsilon is given it is chosen by the
/// boxes that the points lie in. Between nodes of a grid, whose costs are sums over its axes, an iteration takes two
/// passes along each axis instead of one over all pairs of nodes: see `grid_costs`.
///
/// Collective over `context`. For double and float.
///
/// \throws ArgumentError  on all ranks: as `transport`; points of different numbers of coordinates, not row-major, a
///                        coordinate that is not finite, boxes so far apart that costs leave the range of A, p < 1, or
///                        the domain `factors`, which stores the costs
template <class A>
[[nodiscard]] Transport<A> transport(mpi::Context& context, const PointClouds<A>& clouds, const Marginals& marginals,
                                     const TransportOptions& options, std::span<const A> start = {});

/// Several problems with the same costs: `transport` for each of the marginals, but an iteration reads the costs once
/// for all, and has one message for all, as have the checks before, and the values after it. Each has a status of its
/// own; those that have come to their end cost nothing more. Where the exponentials of the costs are factors, they are
/// stored and read in the place of the costs, as by `scale_batch`, by balanced problems at once with the last epsilon
/// unless a larger first one is wanted; where they are not, and for problems for which factors overflow or starve, an
/// iteration takes one exponential an entry for each problem.
///
/// Collective over `context`. Options as of `transport`, but for checkpoints, which are not looked at.
///
/// \throws ArgumentError  on all ranks: as `transport`, naming the number of the marginals; numbers of problems that
///                        differ from rank to rank
template <class T, class A>
[[nodiscard]] std::vector<Transport<A>> transport_batch(mpi::Context& context, matrix_view<const T> costs,
                                                        std::span<const Marginals> marginals,
                                                        const TransportOptions& options);

/// The same with costs between points, which are made once an iteration for all, in the logarithmic domain.
///
/// \throws ArgumentError  on all ranks: as `transport` of points, naming the number of the marginals; numbers of
///                        problems that differ from rank to rank
template <class A>
[[nodiscard]] std::vector<Transport<A>> transport_batch(mpi::Context& context, const PointClouds<A>& clouds,
                                                        std::span<const Marginals> marginals,
                                                        const TransportOptions& options);

/// What rows and columns are to sum up to with the potentials of several transports: the masses, and r[i] exp(-f[i] /
/// rho) where rho is finite. Collective over `context`; as many messages as for one.
///
/// \throws ArgumentError  on all ranks: as `checked_marginals`
template <class A>
[[nodiscard]] std::vector<CheckedMarginals> wanted_masses(mpi::Context& context, std::span<const Marginals> marginals,
                                                          const Rho& rho, std::span<const Transport<A>> found);

/// C(i, j) ← exp((f[i] + g[j] - C(i, j)) / epsilon): the plan in the place of the costs, by so many threads. Local.
template <class T, class A>
void transport_plan_in_place(matrix_view<T> costs, double epsilon, std::span<const A> f, std::span<const A> g,
                             const CostOffsets& offsets = {}, int threads = 1);

/// A rank's part of the plan, row by row, where it is not to take the place of the costs: visit(i, P(i, :)), one after
/// the other, while rows are made by so many threads. Local.
template <class T, class A>
void for_each_plan_row(matrix_view<const T> costs, double epsilon, std::span<const A> f, std::span<const A> g,
                       const std::function<void(Index, std::span<const A>)>& visit, const CostOffsets& offsets = {},
                       int threads = 1);

/// The same of points.
template <class A>
void for_each_plan_row(const PointClouds<A>& clouds, double epsilon, std::span<const A> f, std::span<const A> g,
                       const std::function<void(Index, std::span<const A>)>& visit, int threads = 1);

/// Sums of a plan between points, on several threads: rows[i] ← Σ_j P(i, j) of this rank's rows, and columns[j] += Σ_i
/// P(i, j) of these. Local.
template <class A>
void plan_sums(mpi::Context& context, const PointClouds<A>& clouds, double epsilon, std::span<const A> f,
               std::span<const A> g, std::span<double> rows, std::span<double> columns);

/// The barycentric projection: where each point of x goes on the average,
///
///     map(i) = Σ_j P(i, j) y(j) / Σ_j P(i, j)
///
/// as rows × d, row by row. The potentials of the rows cancel, so that it is defined also for points without mass, and
/// for points that the plan was not made for. Local.
///
/// Source: Pooladian, Niles-Weed, "Entropic estimation of optimal transport maps", 2021.
template <class A>
[[nodiscard]] std::vector<A> barycentric_projection(const PointClouds<A>& clouds, double epsilon, std::span<const A> g,
                                                    int threads = 1);

}  // namespace plait::sinkhorn
