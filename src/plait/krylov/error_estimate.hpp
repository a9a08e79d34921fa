#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/mpi/context.hpp"

namespace plait::krylov {

/// What an iteration's x is off by, told from how it changes, as residuals hardly show errors in directions that A
/// makes little of: over windows of iterations x changes by d, then by d', and what is left is
///
///     ‖x - x*‖∞ ≈ d' ρ / (1 - ρ),   ρ = d' / d
///
/// as if errors fell by ρ from window to window; ρ is that of these or of the windows before, the larger one. Windows
/// become twice as long where ρ is above a half, so that what falls slowest dominates d. A run that ends by this goes
/// on for a window at most after x is good enough. Where x stays as it is, d' is what rounding swallows, and nothing is
/// known if d had ever grown: iterations that go one direction at a time then stand still in some alone. As changes may
/// also take a pause, x is right only where b - A·x tells of no more, either. The same on any number of ranks.
template <class T>
class ErrorEstimate {
 public:
  /// \param size  of this rank's part of x
  /// \throws OutOfMemory  on all ranks
  ErrorEstimate(mpi::Context& context, std::size_t size);

  /// Whether a window ends after so many iterations.
  [[nodiscard]] bool is_due(Index step) const noexcept {
    return static_cast<double>(step) >= window_.begin + window_.length;
  }
  /// Looks at x after so many iterations, where that is due. Collective.
  void look(Index step, std::span<const T> x);

  /// ‖x - x*‖∞ / ‖x‖∞ by the last look; infinite where nothing is known.
  [[nodiscard]] double by_changes() const noexcept { return window_.value; }
  /// Whether it is time to ask b - A·x: seldom, where it told of more than was wanted.
  [[nodiscard]] bool is_to_be_checked(Index step) const noexcept { return static_cast<double>(step) >= window_.check; }
  /// That is at least so much, as b - A·x tells after so many iterations.
  void know(Index step, double least) noexcept {
    window_.least = least;
    window_.check = static_cast<double>(step + step / 8 + 1);
  }
  [[nodiscard]] double least() const noexcept { return window_.least; }
  /// By changes or by b - A·x, the larger one; infinite before that was asked.
  [[nodiscard]] double value() const noexcept { return std::max(window_.value, window_.least); }
  /// Whether x changed in the last window by no more than what rounding makes.
  [[nodiscard]] bool is_at_rounding() const noexcept { return window_.is_at_rounding != 0; }

  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  the state is of another problem
  void resume(const iterate::Checkpoint& checkpoint);

 private:
  // As checkpoints have it.
  struct Window {
    double begin = 0, length = 1;
    double change = -1;  // in the one before; below 0: unknown
    double ratio = 0;    // of the last changes
    double value = INFINITY;
    double is_at_rounding = 0;  // or 1
    double slowest = 0;         // the largest ratio of all
    double least = INFINITY;
    double check = 0;
  };

  mpi::Context& context_;
  std::vector<T> before_;  // x at the beginning of the window
  Window window_;
};

}  // namespace plait::krylov
