#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/matrix_view.hpp"
#include "plait/base/memory.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/iterate/stagnation.hpp"
#include "plait/mpi/context.hpp"
#include "plait/sinkhorn/costs/cost_operand.hpp"
#include "plait/sinkhorn/costs/point_clouds.hpp"
#include "plait/sinkhorn/course/course.hpp"
#include "plait/sinkhorn/course/iterations.hpp"
#include "plait/sinkhorn/marginals/marginals.hpp"
#include "plait/sinkhorn/sweep/update.hpp"
#include "plait/sinkhorn/transport/transport.hpp"

/// Stages of transport: what is asked of its arguments, how a small epsilon is approached from a larger one, one stage
/// of it, and all. For double and float.
namespace plait::sinkhorn {

/// Beyond this, exponentials of costs in units of epsilon span too many orders of magnitude to be factors of anything.
template <class A>
inline constexpr double widest_factors = std::is_same_v<A, double> ? 500 : 50;

/// See `Update`: of a side that rho relaxes; 1 where that is infinite.
[[nodiscard]] double relaxed_exponent(double rho, double epsilon);

/// Why there is no plan where costs, in units of epsilon, are no numbers of type A.
template <class A>
[[nodiscard]] std::optional<Outcome> beyond_range(double highest, double epsilon);

/// The epsilons of a run, one after the other: of the first one, unless that is given, the costs decide.
class Stages {
 public:
  /// \param options  which outlive this
  /// \param highest  no cost but infinite ones is larger, or less than minus that
  /// \throws ArgumentError  a state to go on from has no epsilon, or one below the last
  Stages(const TransportOptions& options, double highest);

  [[nodiscard]] double epsilon() const noexcept { return epsilon_; }
  [[nodiscard]] bool is_last() const noexcept { return epsilon_ <= options_->epsilon; }
  void next();
  void go_to_last() noexcept { epsilon_ = options_->epsilon; }
  /// With the first epsilon, whatever a state has come to.
  void begin_again() noexcept { epsilon_ = first_; }

  /// The state that the stage under way goes on from, until its limits were asked for; with its domain, and the stages
  /// that had ended.
  [[nodiscard]] const iterate::Checkpoint* resumed() const noexcept { return resumed_; }
  [[nodiscard]] Domain resumed_domain() const noexcept { return resumed_domain_; }
  [[nodiscard]] std::vector<TransportStage> ended() const;

  /// The limits of the stage under way: of one before the last one little is wanted. Its checkpoints have beside their
  /// own what is known of the stages, and what `put_potentials` adds.
  [[nodiscard]] Limits limits(Domain domain, const std::vector<TransportStage>& ended,
                              std::function<void(iterate::Checkpoint&)> put_potentials);

 private:
  const TransportOptions* options_;
  double first_;
  double epsilon_;
  const iterate::Checkpoint* resumed_;
  Domain resumed_domain_ = Domain::logarithmic;
};

/// Room for exp(f + g - C / epsilon), which `CostOperand::fill` fills.
template <class A>
struct StoredKernel {
  explicit StoredKernel(const CostOperand<A>& costs)
      : elements(costs.rows() * std::max(Index{1}, costs.columns())),
        matrix(elements.data(), costs.rows(), costs.columns(), std::max(Index{1}, costs.columns()),
               StorageOrder::row_major) {}

  Array<A> elements;
  matrix_view<A> matrix;
};

/// One of several problems with the same costs.
template <class A>
struct TransportProblem {
  const CheckedMarginals* masses = nullptr;  // that were given
  CheckedMarginals reached = {};             // these, but for what is out of reach
  Transport<A> result = {};                  // with potentials in units of epsilon while there is a stage

  void multiply_potentials(double factor) {
    for (std::vector<A>* potentials : {&result.f, &result.g}) {
      for (A& potential : *potentials) potential = static_cast<A>(static_cast<double>(potential) * factor);
    }
  }
  void save(iterate::Checkpoint& checkpoint) const {
    checkpoint.by_rank["f"].assign(result.f.begin(), result.f.end());
    checkpoint.shared["g"].assign(result.g.begin(), result.g.end());
  }
  void resume(const iterate::Checkpoint& checkpoint) {
    take(checkpoint.by_rank, "f", "potentials of rows", std::span(result.f));
    take(checkpoint.shared, "g", "potentials of columns", std::span(result.g));
  }
};

/// All problems that take part in a stage; the epsilon of the costs is set.
template <class A>
struct Stage {
  CostOperand<A>& costs;
  Update update;
  double span = 0;  // the largest absolute value of a cost, in units of epsilon
  std::vector<TransportProblem<A>*> problems = {};
};

/// By factors: of the matrix exp(f + g - C / epsilon), with the f that makes the largest entry of each row 1; several
/// problems share one, exp(f - C / epsilon), beside which potentials of the columns are factors to begin with. Null for
/// problems for which that does not work out: a column of the matrix is 0, or numbers leave their range on the way, in
/// which case the potentials of the columns are as good as that way was.
///
/// \pre  there is one problem, if checkpoints are kept or gone on from
template <class A>
[[nodiscard]] std::vector<std::optional<Outcome>> stage_by_factors(mpi::Context& context, const Stage<A>& stage,
                                                                   const Limits& limits);

/// By logarithms: an iteration reads the costs once for all problems, and has one message for all. Where sums left the
/// range of numbers, which they do only when costs are so many epsilons that rounding them is more than epsilon, the
/// status is that of a numerical limit, and the error infinite: there is no plan.
///
/// \pre  there is one problem, if checkpoints are kept or gone on from
template <class A>
[[nodiscard]] std::vector<std::optional<Outcome>> stage_by_logarithms(mpi::Context& context, const Stage<A>& stage,
                                                                      const Limits& limits);

/// The rounding of sums of exponentials in whose exponents costs are up to `span` epsilons.
[[nodiscard]] iterate::Rounding rounding_of_logarithms(double roundoff, double span, iterate::Errors errors);

/// Gives the columns of each problem, whose sums are those of all ranks, what their marginals want, in the logarithmic
/// domain: those of which nothing is left in the sums, with these potentials, are summed up again with their true
/// maxima, by two messages for all problems. All ranks do the same. Collective over `context`.
///
/// \return  of each problem a column that reaches no row, or has no finite sum; null where there is none
template <class A>
[[nodiscard]] std::vector<std::optional<std::size_t>> move_columns(mpi::Context& context, CostOperand<A>& costs,
                                                                   const LogUpdate& update,
                                                                   std::span<const LogVectors<A>> problems);

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

/// What belongs to the plans of some problems, with potentials in units of epsilon, in one more pass for each: their
/// costs, masses, divergences and values. As many messages as for one. Collective over `context`.
template <class A>
void evaluate_plans(mpi::Context& context, CostOperand<A>& costs, std::span<TransportProblem<A>* const> problems,
                    double epsilon, const Rho& given_rho);

/// \throws ArgumentError  an epsilon that is not positive and finite, or a first one below it; limits below 0; a rho
///                        that is not positive, or so large or small beside epsilon that nothing is relaxed by it, or
///                        all
/// Adds to `arguments` what all ranks have to give alike.
void expect_suitable(const TransportOptions& options, mpi::Alike& arguments);

/// What the totals of masses have to be.
[[nodiscard]] inline Totals totals_of(const Rho& rho) { return rho.is_balanced() ? Totals::equal : Totals::any; }

/// The masses that plans must have: 0 for those that may be missed.
[[nodiscard]] std::vector<CheckedMarginals> required_masses(mpi::Context& context,
                                                            std::span<const CheckedMarginals> masses, const Rho& rho);

/// Checks points and options. Collective over `context`.
///
/// \return  no cost between two of the points is larger
/// \throws ArgumentError  on all ranks: as `transport` of points, but for what their masses have to be
template <class A>
[[nodiscard]] double checked_highest_cost(mpi::Context& context, const PointClouds<A>& clouds,
                                          const TransportOptions& options);

}  // namespace plait::sinkhorn
