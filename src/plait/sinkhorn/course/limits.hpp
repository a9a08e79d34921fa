#pragma once

#include <functional>

#include "plait/base/index.hpp"
#include "plait/mpi/alike.hpp"
#include "plait/sinkhorn/course/state.hpp"

namespace plait::sinkhorn {

/// When a run ends, and who is told how it goes.
struct Limits {
  double tolerance = 1e-9;  // of the error, see `Outcome`
  Index most_iterations = 10'000;
  /// Called on all ranks after each iteration; what it throws on one of them has to be thrown on all.
  std::function<void(Index iteration, double error)> listener = {};
  ScalingCheckpoints checkpoints = {};  // of `scale` and `balance`
  /// The most memory that rank 0 takes to decide whether a sparse matrix has support: see `SparseSupport`.
  Index most_support_bytes = Index{4} << 30;
};

/// \throws ArgumentError  a state that is beyond the limit already, so that there is no iteration that gives the rows
///                        their sums
void expect_fewer(const ScalingState& from, Index most_iterations);

/// \throws ArgumentError  a tolerance or a number of iterations below 0
void expect_valid(const Limits& limits);

/// Adds what all ranks have to give alike.
void name_arguments(const Limits& limits, mpi::Alike& arguments);

}  // namespace plait::sinkhorn
