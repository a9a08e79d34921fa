#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plait/base/index.hpp"

namespace plait::iterate {

/// How a run of iterations came to its end.
enum class End : unsigned char {
  none,         ///< it goes on
  converged,    ///< the error is within the tolerance
  finished,     ///< as many iterations as were wanted are done, and no error was to be reached
  limit,        ///< no more iterations were allowed
  no_solution,  ///< there is proof that the problem has none
  numbers,      ///< numbers left their range, or rounding leaves the error as it is
};

/// How far a solver is. The same on all ranks.
struct State {
  Index step = 0;    ///< iterations so far
  double error = 0;  ///< after the last one
  End end = End::none;
  std::string reason = {};  ///< for the end, in words and numbers, for people
};

/// What a solver needs to go on with the same bits, on any number of ranks. Doubles hold numbers of all precisions.
struct Checkpoint {
  std::map<std::string, double> numbers = {};               ///< the same on all ranks
  std::map<std::string, std::vector<double>> shared = {};   ///< likewise
  std::map<std::string, std::vector<double>> by_rank = {};  ///< this rank's part of each; rank 0 has the first one
};

/// \throws ArgumentError  there is none of this name
[[nodiscard]] const std::vector<double>& vector_of(const std::map<std::string, std::vector<double>>& vectors,
                                                   const std::string& name);

/// The contract of all that iterates:
///
///     while (solver.advance()) {}
///     use(solver);  // solver.state() tells how it ended
///
/// Whoever drives one may look at its state, save it, or stop between any two iterations.
template <class S>
concept Solver = requires(S& solver, const S& seen, Checkpoint& checkpoint, const Checkpoint& from) {
  { solver.advance() } -> std::same_as<bool>;             // one iteration; false: there is none after it
  { seen.state() } -> std::convertible_to<const State&>;  //
  { seen.save(checkpoint) } -> std::same_as<void>;        // what another solver of the same problem goes on from
  { solver.resume(from) } -> std::same_as<void>;          // throws ArgumentError where that is of another problem
};

/// Who looks on while a solver iterates. All are called on all ranks; what one throws on a rank it has to throw on all.
struct Observers {
  /// Told of each iteration.
  std::function<void(Index iteration, double error)> listener = {};
  /// Asked before each iteration but the first, with how many there were: whether a checkpoint is to be kept, with the
  /// same answer on all ranks; empty: never.
  std::function<bool(Index iterations)> is_due = {};
  std::function<void(const Checkpoint&)> keep = {};
};

/// Iterates to the end.
template <Solver S>
void run(S& solver, const Observers& observers = {}) {
  while (true) {
    const Index before = solver.state().step;
    const bool goes_on = solver.advance();
    const State& state = solver.state();
    if (observers.listener && state.step > before) observers.listener(state.step, state.error);
    if (!goes_on) return;
    if (!observers.keep || !observers.is_due || !observers.is_due(state.step)) continue;
    Checkpoint checkpoint;
    solver.save(checkpoint);
    observers.keep(checkpoint);
  }
}

}  // namespace plait::iterate
