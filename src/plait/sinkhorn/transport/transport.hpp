#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/course/limits.hpp"
#include "plait/sinkhorn/course/status.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"

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

/// Where a run was, so that another one goes on with the same bits. Doubles hold the numbers of all precisions.
struct TransportState {
  std::vector<TransportStage> stages;   // that ended
  double epsilon = 0;                   // of the one under way
  Domain domain = Domain::logarithmic;  // of that one
  std::vector<double> f;                // in units of epsilon: of this rank's rows
  std::vector<double> g;                // of all columns; with factors, that at the beginning of the stage
  ScalingState scaling;                 // the stage's errors and, with factors, these
};

struct TransportOptions {
  double epsilon = 0;  // of the costs' unit
  Domain domain = Domain::automatic;
  /// With what epsilon to begin; it is divided by 4 until it is `epsilon`, each time beginning with the potentials of
  /// the time before. 0: chosen by the costs.
  double first_epsilon = 0;
  Limits limits = {};
  Rho rho = {};                // unbalanced transport, where one of them is finite
  double over_relaxation = 1;  // see `Update`; 1 for none
  /// As those of `ScalingCheckpoints`, of the iterations of a stage. The checkpoints of `limits` are not looked at.
  std::function<bool(Index iterations)> is_due = {};
  std::function<void(const TransportState&)> keep = {};
  /// To go on from; none: from the beginning. The same stage on all ranks.
  const TransportState* from = nullptr;
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

/// The plan is P(i, j) = exp((f[i] + g[j] - C(i, j)) / epsilon), where there are offsets with C(i, j) - offsets.rows[i]
/// - offsets.columns[j] in place of C(i, j).
template <class A>
struct Transport {
  Outcome outcome;  // of the last stage
  std::vector<TransportStage> stages;
  std::vector<A> f;  // of this rank's rows, in the costs' unit; -infinity where there is no mass, all NaN where
                     // numbers left their range (numerical_limit), and there is no plan
  std::vector<A> g;  // of all columns; the same on all ranks
  CostOffsets offsets = {};
  double cost = 0;               // Σ C P; of offsets, Σ of these times the masses that are wanted
  double mass = 0;               // Σ P
  double row_divergence = 0;     // KL(sums of P | masses), where rho is finite
  double column_divergence = 0;  //
  double primal = 0;             // Σ C P + epsilon Σ P (log P - 1) + rho times the divergences
  double dual = 0;  // Σ f r + Σ g c - epsilon Σ P; -rho Σ r (exp(-f / rho) - 1) in place of a sum where rho is finite
  [[nodiscard]] double gap() const noexcept { return primal - dual; }
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
///                        rho that is not positive, an over-relaxation that is not in (0, 2); as `checked_marginals`
///                        (unbalanced: `checked_masses`) and `check_costs`; a matrix that is not row-major; a start of
///                        another length or with potentials that are not finite
///
/// Sources: Cuturi, "Sinkhorn distances", 2013; Schmitzer, "Stabilized sparse scaling algorithms", 2019; Chizat et
/// al., "Scaling algorithms for unbalanced transport problems", 2018; Séjourné et al., see `translation`.
template <class T, class A>
[[nodiscard]] Transport<A> transport(mpi::Context& context, matrix_view<const T> costs, const Marginals& marginals,
                                     const TransportOptions& options, std::span<const A> start = {});

/// What rows and columns are to sum up to with these potentials: the masses, and r[i] exp(-f[i] / rho) where rho is
/// finite. Collective over `context`.
///
/// \throws ArgumentError  on all ranks: as `checked_masses`; where sums must not be missed, as `checked_marginals`
template <class A>
[[nodiscard]] CheckedMarginals wanted_masses(mpi::Context& context, const Marginals& marginals, const Rho& rho,
                                             std::span<const A> f, std::span<const A> g);

/// The same of several transports, by as many messages as of one.
///
/// \throws ArgumentError  on all ranks: as `checked_marginals_of_each`, or `checked_masses_of_each`
template <class A>
[[nodiscard]] std::vector<CheckedMarginals> wanted_masses_of_each(mpi::Context& context,
                                                                  std::span<const Marginals> marginals, const Rho& rho,
                                                                  std::span<const Transport<A>> found);

/// C(i, j) ← exp((f[i] + g[j] - C(i, j)) / epsilon): the plan in the place of the costs. Local.
template <class T, class A>
void transport_plan_in_place(matrix_view<T> costs, double epsilon, std::span<const A> f, std::span<const A> g,
                             const CostOffsets& offsets = {});

/// A rank's part of the plan, row by row, where it is not to take the place of the costs: visit(i, P(i, :)). Local.
template <class T, class A>
void for_each_plan_row(matrix_view<const T> costs, double epsilon, std::span<const A> f, std::span<const A> g,
                       const std::function<void(Index, std::span<const A>)>& visit, const CostOffsets& offsets = {});

}  // namespace plait::sinkhorn
