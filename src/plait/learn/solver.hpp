#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/iterate/asynchronous_descent.hpp"
#include "plait/iterate/course.hpp"
#include "plait/iterate/curvature_pairs.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/learn/objective.hpp"
#include "plait/learn/samples.hpp"

namespace plait::learn {

enum class Method : unsigned char {
  lbfgs,      ///< batch, by L-BFGS: the curvature from the last 20 steps
  batch,      ///< batch, by gradient descent
  minibatch,  ///< gradients of some samples at a time, with less variance by the gradient of all before each epoch
              ///< (SVRG)
  sgd,        ///< the same of one sample at a time
  /// Each rank goes through its samples by plain stochastic gradients; then weights are averaged (SimuParallelSGD). It
  /// comes near the least value, in a way that depends on who has which sample.
  parallel_sgd,
  /// Each rank goes through its samples by minibatches, with less variance as above, and takes what others do into
  /// account as it comes, as `Exchange` says; then weights are averaged, or all steps added up where there is a server.
  /// Its result depends on the clock, to the tolerance.
  asgd,
};
[[nodiscard]] const char* name(Method method);

struct Options {
  /// Of √ of the sum of squares of the gradient by the variables of `Objective`, over the standard deviation of the
  /// targets of a linear model.
  iterate::Limits limits{.tolerance = 1e-4, .most_iterations = 10'000};
  Method method = Method::lbfgs;
  double l2 = 1e-4;  ///< λ of `Objective`
  bool intercept = true;
  Index batch = 64;        ///< samples of a minibatch
  double step = 0;         ///< the length of steps along the gradient, but for L-BFGS; 0: as it turns out to be best
  std::uint64_t seed = 0;  ///< of the samples that are drawn
  /// Of asgd. With minibatch and sgd, `server` lets rank 0 alone add up gradients, make the step and tell the others (a
  /// synchronous parameter server), instead of all ranks together: the bits are the same.
  iterate::Exchange exchange = iterate::Exchange::states;
};

/// What a solver takes on each rank beside the samples, with these many outputs of so many columns.
[[nodiscard]] Index bytes_of_solver(const mpi::Context& context, const Options& options, Index outputs,
                                    Index columns) noexcept;

/// Fits a linear model: the weights that make an `Objective` least.
///
///     const Samples samples(context, rows, targets, Model::logistic);
///     Solver solver(samples, {});
///     iterate::run(solver);
///     const Weights w = solver.weights();
///
/// All methods but parallel_sgd converge to the same point, which is the only one where λ > 0. An iteration is a step,
/// or with minibatches an epoch: as many samples drawn as there are. Everything is collective over the samples'
/// context, and weights have the same bits on any number of ranks, but for the last two methods.
///
/// Sources: Nocedal, "Updating quasi-Newton matrices with limited storage", Math. Comp. 35 (1980); Johnson, Zhang,
/// "Accelerating stochastic gradient descent using predictive variance reduction", NIPS 2013; Zinkevich et al.,
/// "Parallelized stochastic gradient descent", NIPS 2010; Keuper, Pfreundt, "Asynchronous parallel stochastic gradient
/// descent", MLHPC 2015.
class Solver {
 public:
  /// \throws ArgumentError  on all ranks: wrong options
  /// \throws OutOfMemory    on all ranks, where one has too little
  /// \param start  weights to begin with; 0 where there are none
  Solver(const Samples& samples, const Options& options, const Weights* start = nullptr);

  /// \throws ArgumentError  on all ranks: the step is too long
  bool advance();
  [[nodiscard]] const iterate::State& state() const noexcept { return course_.state(); }
  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  the state is of another problem, or has as many iterations as are allowed
  void resume(const iterate::Checkpoint& checkpoint);

  /// The same on all ranks.
  [[nodiscard]] LinearModel model() const { return objective_.model(u_); }
  [[nodiscard]] Weights weights() const { return model().weights(); }
  /// States of other ranks that this one took into account, with asgd.
  [[nodiscard]] Index mixed() const noexcept { return descent_ ? descent_->mixed() : 0; }
  /// F after each iteration.
  [[nodiscard]] const std::vector<double>& objectives() const noexcept { return objectives_; }

  [[nodiscard]] Quality quality() const;

 private:
  using Value = Objective::Value;

  [[nodiscard]] double error() const;
  [[nodiscard]] bool search(const Weights& direction);
  [[nodiscard]] bool step_by_curvature();
  void step_down();
  void go_through_epoch();
  void end_epoch(const Weights& start);
  void go_through_own_samples();
  void go_through_own_batches();
  void average(const Weights& start);

  const Samples& samples_;
  Options options_;
  iterate::Course course_;
  Objective objective_;
  Weights u_;
  Value here_;  // at u
  bool has_begun_ = false;
  iterate::CurvaturePairs pairs_;  // of L-BFGS
  double step_ = 0;
  double least_wrong_step_ = 0;  // with minibatches: 0 where none was
  std::vector<double> objectives_;
  std::optional<iterate::AsynchronousDescent> descent_;
};

}  // namespace plait::learn
