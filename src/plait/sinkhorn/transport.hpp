#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/limits.hpp"
#include "plait/sinkhorn/marginals.hpp"
#include "plait/sinkhorn/status.hpp"

namespace plait::sinkhorn {

/// What transport is computed with.
enum class Domain : unsigned char {
  automatic,    ///< factors, where costs allow it; logarithms where factors overflow, or where rows or columns starve
  factors,      ///< exp(-C / epsilon) is stored beside the costs, and scaled
  logarithmic,  ///< potentials: one read of the costs and one exponential an entry
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
  std::vector<double> v;                // with factors, of all columns
  std::vector<double> errors;           // of this stage, after each iteration
};

struct TransportOptions {
  double epsilon = 0;  // of the costs' unit
  Domain domain = Domain::automatic;
  /// With what epsilon to begin; it is divided by 4 until it is `epsilon`, each time beginning with the potentials of
  /// the time before. 0: chosen by the costs.
  double first_epsilon = 0;
  Limits limits = {};
  /// Called on all ranks after every `keep_every` iterations of a stage; what it throws on one of them has to be thrown
  /// on all. May be empty.
  std::function<void(const TransportState&)> keep = {};
  Index keep_every = 1;
  /// To go on from; none: from the beginning. The same stage on all ranks.
  const TransportState* from = nullptr;
};

/// The plan is P(i, j) = exp((f[i] + g[j] - C(i, j)) / epsilon).
template <class A>
struct Transport {
  Outcome outcome;  // of the last stage
  std::vector<TransportStage> stages;
  std::vector<A> f;  // of this rank's rows, in the costs' unit; -infinity where there is no mass, all NaN where factors
                     // that were asked for left the range of numbers (numerical_limit), and there is no plan
  std::vector<A> g;  // of all columns; the same on all ranks
  double cost = 0;   // Σ C P
  double mass = 0;   // Σ P
  double primal = 0;  // Σ C P + epsilon Σ P (log P - 1)
  double dual = 0;    // Σ f r + Σ g c - epsilon Σ P
  [[nodiscard]] double gap() const noexcept { return primal - dual; }
};

/// Entropic optimal transport: the plan P >= 0 of the marginals that minimises  Σ C P + epsilon Σ P (log P - 1).
///
/// Costs may be negative, and +infinity for what is forbidden. T and A: double, float, or float computed with as
/// double. In the logarithmic domain the old potential of a row keeps its exponentials in range, so that the sums of
/// columns are sums of entries of the plan, which can't overflow; a row whose sum is nevertheless 0 or infinite is
/// taken again with its true maximum, a column by an exact sum of logarithms.
///
/// Collective over `context`. Rows are distributed as for `scale`.
///
/// \param start  potentials of the columns to begin with; empty: zeros
/// \throws ArgumentError  on all ranks: an epsilon that is not positive and finite, a first one below it; as
///                        `checked_marginals` and `check_costs`; a matrix that is not row-major; a start of another
///                        length or with potentials that are not finite
///
/// Sources: Cuturi, "Sinkhorn distances", 2013; Schmitzer, "Stabilized sparse scaling algorithms", 2019.
template <class T, class A>
[[nodiscard]] Transport<A> transport(mpi::Context& context, matrix_view<const T> costs, const Marginals& marginals,
                                     const TransportOptions& options, std::span<const A> start = {});

/// C(i, j) ← exp((f[i] + g[j] - C(i, j)) / epsilon): the plan in the place of the costs. Local.
template <class T, class A>
void transport_plan_in_place(matrix_view<T> costs, double epsilon, std::span<const A> f, std::span<const A> g);

}  // namespace plait::sinkhorn
