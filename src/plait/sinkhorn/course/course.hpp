#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/iterate/course.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/iterate/stagnation.hpp"
#include "plait/mpi/alike.hpp"

namespace plait::sinkhorn {

using iterate::roundoff_of;

/// How a run came to its end.
enum class Status : unsigned char {
  converged,
  iteration_limit,
  no_support,            ///< no matrix that is 0 wherever this one is has these marginals, which are all alike
  infeasible_marginals,  ///< the same with marginals that differ
  numerical_limit,       ///< the numbers left their range, or are as good as rounding lets them be
};

/// "converged", "iteration limit", ...
[[nodiscard]] std::string_view name(Status status) noexcept;

/// The result of a run beside its numbers. The same on all ranks.
///
/// An *error* is the sum over all columns of |sum of the plan's column - sum that it is to have|, divided by the sum of
/// all marginals. The rows have their sums, up to rounding, and without acceleration the error does not grow from
/// iteration to iteration where the sums have to be those of the marginals.
struct Outcome {
  Status status = Status::converged;
  std::string reason = {};  // in words and numbers, for people
  Index iterations = 0;
  double error = 0;
  std::vector<double> errors = {};  // after each iteration
  bool is_out_of_range = false;     // of numbers, some of which are none
};

/// When checkpoints are kept, and from which one a run goes on; see `iterate::Observers`. None is due after the last
/// iteration that is allowed, at whose end rows and not columns have just their sums: with a larger limit a run goes on
/// from one before it.
struct Checkpoints {
  std::function<bool(Index iterations)> is_due = {};
  std::function<void(const iterate::Checkpoint&)> keep = {};
  const iterate::Checkpoint* from = nullptr;  // none: from the beginning. Of the same run on all ranks
};

/// Whether iterations are accelerated.
enum class Acceleration : unsigned char {
  automatic,  ///< by steps that what was seen so far foretells: see `QuasiNewton`
  none,       ///< each iteration gives rows and columns just their sums
};

/// How a run goes: when it ends, how fast, and who is told.
struct Limits {
  double tolerance = 1e-9;  // of the error, see `Outcome`
  Index most_iterations = 10'000;
  Acceleration acceleration = Acceleration::automatic;
  /// Called on all ranks after each iteration; what it throws on one of them has to be thrown on all.
  std::function<void(Index iteration, double error)> listener = {};
  Checkpoints checkpoints = {};  // of runs for one problem
  /// The most memory that rank 0 takes to decide whether a sparse matrix has support: see `SparseSupport`.
  Index most_support_bytes = Index{4} << 30;
};

/// \throws ArgumentError  a tolerance, a number of iterations or of bytes below 0
void expect_valid(const Limits& limits);

/// Adds what all ranks have to give alike.
void name_arguments(const Limits& limits, mpi::Alike& arguments);

}  // namespace plait::sinkhorn
