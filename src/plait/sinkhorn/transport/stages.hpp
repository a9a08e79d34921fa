#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "plait/iterate/solver.hpp"
#include "plait/iterate/stagnation.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/sweep/update.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

/// Stages of transport: how a small epsilon is approached from a larger one, one stage of it, and all.
namespace plait::sinkhorn {

/// Beyond this, exponentials of costs in units of epsilon span too many orders of magnitude to be factors of anything.
template <class A>
inline constexpr double widest_factors = std::is_same_v<A, double> ? 500 : 50;

/// See `Update`: of a side that rho relaxes; 1 where that is infinite.
[[nodiscard]] double relaxed_exponent(double rho, double epsilon);

/// With what epsilon to begin: in steps, if costs are many epsilons.
///
/// \param given    what somebody wants; 0: nobody said
/// \param highest  no cost but infinite ones is larger, or less than minus that
[[nodiscard]] double first_epsilon(double given, double highest, double last);

[[nodiscard]] double next_epsilon(double epsilon, double last);

/// How far a run of stages has come.
struct StagesSoFar {
  std::vector<TransportStage> ended;
  double epsilon = 0;                   // of the one under way
  Domain domain = Domain::logarithmic;  // of that one
};

/// What a checkpoint says of it.
/// \throws ArgumentError  nothing, or an epsilon below the last one
[[nodiscard]] StagesSoFar stages_of(const iterate::Checkpoint& checkpoint, double last);

/// The limits of a stage: of one before the last one little is wanted. Its checkpoints have beside their own what is
/// known of the stages, and what `put_potentials` adds; where it goes on from is the caller's business.
[[nodiscard]] Limits limits_of_stage(const Limits& limits, double last, const StagesSoFar& so_far,
                                     std::function<void(iterate::Checkpoint&)> put_potentials);

/// Why there is no plan where costs, in units of epsilon, are no numbers of type A.
template <class A>
[[nodiscard]] std::optional<Outcome> beyond_range(double highest, double epsilon);

/// What all problems have in common; the epsilon of the costs is set.
template <class A>
struct Stage {
  CostOperand<A>& costs;
  Update update;
  double span = 0;  // the largest absolute value of a cost, in units of epsilon
};

/// One of the problems.
template <class A>
struct StageProblem {
  const CheckedMarginals& marginals;
  std::vector<A>& f;
  std::vector<A>& g;
};

/// By factors: of the matrix exp(f + g - C / epsilon), with the f that makes the largest entry of each row 1; several
/// problems share one, exp(f - C / epsilon), beside which potentials of the columns are factors to begin with. Null for
/// problems for which that does not work out: a column of the matrix is 0, or numbers leave their range on the way, in
/// which case the potentials of the columns are as good as that way was.
///
/// \pre  there is one problem, if checkpoints are kept or gone on from
template <class A>
[[nodiscard]] std::vector<std::optional<Outcome>> stage_by_factors(mpi::Context& context, const Stage<A>& stage,
                                                                   std::span<const StageProblem<A>> problems,
                                                                   const Limits& limits);

/// By logarithms: an iteration reads the costs once for all problems, and has one message for all. Where sums left the
/// range of numbers, which they do only when costs are so many epsilons that rounding them is more than epsilon, the
/// status is that of a numerical limit, and the error infinite: there is no plan.
///
/// Checkpoints have errors only: the potentials are the caller's.
///
/// \pre  there is one problem, if checkpoints are kept or gone on from
template <class A>
[[nodiscard]] std::vector<std::optional<Outcome>> stage_by_logarithms(mpi::Context& context, const Stage<A>& stage,
                                                                      std::span<const StageProblem<A>> problems,
                                                                      const Limits& limits);

/// The rounding of sums of exponentials in whose exponents costs are up to `span` epsilons.
[[nodiscard]] iterate::Rounding rounding_of_logarithms(double roundoff, double span, iterate::Errors errors);

/// The columns of one of several problems.
template <class A>
struct LogColumns {
  std::span<const double> marginals;
  std::span<const A> f;     // of this rank's rows
  std::span<A> g;           // what is moved
  std::span<const A> sums;  // that they have with these potentials, of all ranks
};

/// Gives the columns of each problem their sums, in the logarithmic domain: those of which nothing is left in the sums,
/// with these potentials, are summed up again with their true maxima, by two messages for all problems. All ranks do
/// the same. Collective over `context`.
///
/// \return  of each problem a column that reaches no row, or has no finite sum; null where there is none
template <class A>
[[nodiscard]] std::vector<std::optional<std::size_t>> move_columns(mpi::Context& context, CostOperand<A>& costs,
                                                                   const LogUpdate& update,
                                                                   std::span<const LogColumns<A>> problems);

/// `transport` of costs in any form, which were checked, for each of the masses. An iteration reads, or makes, the
/// costs once for all of them, or their exponentials where these are factors, and there are as many messages as for one
/// of them. Collective over `context`.
///
/// \param highest  no cost but infinite ones is larger, or less than minus that
/// \pre  there are masses of one problem, if a state is kept or gone on from
/// \throws ArgumentError  on all ranks: a start of another length or with potentials that are not finite
template <class A>
[[nodiscard]] std::vector<Transport<A>> transports_of(mpi::Context& context, CostOperand<A>& costs,
                                                      std::span<const CheckedMarginals> masses, double highest,
                                                      const TransportOptions& options, std::span<const A> start);

/// The plan of one of several problems with the same costs.
template <class A>
struct PlanToEvaluate {
  const CheckedMarginals* masses = nullptr;  // that were given
  Transport<A>* result = nullptr;            // with potentials in units of epsilon
};

/// What belongs to these plans, in one more pass for each: their costs, masses, divergences and values. As many
/// messages as for one. Collective over `context`.
template <class A>
void evaluate_plans(mpi::Context& context, CostOperand<A>& costs, std::span<const PlanToEvaluate<A>> plans,
                    double epsilon, const Rho& given_rho);

}  // namespace plait::sinkhorn
