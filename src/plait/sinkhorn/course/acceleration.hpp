#pragma once

#include <span>
#include <variant>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/iterate/curvature_pairs.hpp"
#include "plait/iterate/solver.hpp"

namespace plait::sinkhorn {

/// Whether iterations are accelerated.
enum class Acceleration : unsigned char {
  automatic,  ///< by steps that what was seen so far foretells: see `QuasiNewton`
  none,       ///< each iteration gives rows and columns just their sums
};

/// What an iteration goes on from: all else follows from it. The same on all ranks.
struct Iterate {
  std::variant<std::span<double>, std::span<float>> values;  // factors of columns, or logarithms of them
  bool are_logarithms = false;
  std::span<const double> weights = {};  // what their sums count; columns that count 0 only go plainly
};

/// Limited-memory quasi-Newton steps for iterations x ← T x, x the logarithms of factors of columns.
///
/// With rows that have their sums, x maximises the concave dual h, of which the slope is (what columns are to sum up
/// to)
/// - (what they do), and T x - x = d is that slope over the weights, nearly: a preconditioned ascent. L-BFGS makes of
/// the last few moves s and of what these changed d by,
///
///     q = H d,   H the inverse of the curvature, as far as pairs (s, y = weights · (d before - d)) tell, else 1
///
/// and x + q takes the place of x + d. All vectors are the same on all ranks, so that there are no more messages.
///
/// **Safeguards**: q is no longer than a multiple of d, which doubles when it proves too short and is a quarter when a
/// step fails: where masses move at a constant pace there is no curvature, and the step grows by trial. A step fails if
/// h has not risen. Its slopes along the step at both ends tell, whose mean is the rise but for terms of third order;
/// the one at the end is a bound below. Then x + d, which always rises, takes its place, pairs are forgotten, and for
/// twice as long as after the failure before iterations are plain. So are fast ones, and those of which errors have to
/// fall lest they be taken for rounding.
///
/// Sources: Nocedal, "Updating quasi-Newton matrices with limited storage", 1980; Cuturi, Peyré, "A smoothed dual
/// approach for variational Wasserstein problems", 2016.
class QuasiNewton {
 public:
  /// \param rounding  errors below it tell by not falling that only rounding is left
  QuasiNewton(const Iterate& iterate, double rounding);

  /// Whether the iterate may be worse than the one before.
  [[nodiscard]] bool is_under_way() const noexcept { return is_under_way_; }
  /// Where slopes at the iterate belong, for `has_risen`.
  [[nodiscard]] std::span<double> slopes() noexcept { return slopes_; }
  /// Whether the step that led to the iterate is to be kept; else `fail` is due. To be asked before columns move.
  [[nodiscard]] bool has_risen(const Iterate& iterate);
  /// Goes plainly where a step had been made.
  void go_plainly(const Iterate& iterate);
  /// The same, for the step did not rise.
  void fail(const Iterate& iterate);
  /// After columns moved, from x to T x.
  ///
  /// \param errors  so far; the last one is that of x
  void moved(const Iterate& iterate, std::span<const double> errors);

  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  it is of another problem
  void resume(const iterate::Checkpoint& checkpoint);

 private:
  void find_change(const Iterate& iterate);
  void add_pair(std::span<const double> weights);
  /// Whether it rises.
  [[nodiscard]] bool find_step(std::span<const double> weights);
  void take_step(const Iterate& iterate);

  double rounding_;
  bool is_under_way_ = false;
  bool has_moved_ = false;  // so that change_ and move_ are of the iterate before
  bool was_cut_ = false;    // the step, to the most that it may be
  double most_ = 4;         // times the length of d
  double rise_ = 0;         // slopes at the iterate before, along the step
  Index failures_ = 0;      // one after the other
  Index pause_ = 0;         // plain iterations to come
  iterate::CurvaturePairs pairs_;
  std::vector<double> now_;  // x, while columns move; then the new d
  std::vector<double> slopes_;
  std::vector<double> change_;  // d
  std::vector<double> move_;    // what was added to x
  std::vector<double> kept_;    // T x: as factors, or logarithms of them
};

}  // namespace plait::sinkhorn
