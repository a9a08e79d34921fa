#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/iterate/course.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/krylov/dots.hpp"
#include "plait/krylov/error_estimate.hpp"
#include "plait/mpi/context.hpp"

namespace plait::krylov {

/// out = A·in, of which each rank has its part of both. Collective; `out` does not overlap `in`. What it throws on a
/// rank it has to throw on all, as what is called between its calls is collective.
template <class T>
using Operator = std::function<void(std::span<const T> in, std::span<T> out)>;

/// Takes from values of x what A makes 0 of. Collective.
template <class T>
using Projection = std::function<void(std::span<T>)>;

/// How far x is off at some places, from r = b - A·x. Collective, the same on all ranks.
template <class T>
using Shift = std::function<double(std::span<const T> r)>;

/// A·x = b, and how errors of x are measured. b, x and weights outlive whoever solves it.
template <class T>
struct System {
  Operator<T> a;
  std::span<const T> b;             ///< this rank's part, as of the others
  std::span<T> x;                   ///< where an iteration begins, and where it ends
  std::span<const T> weights = {};  ///< the diagonal of D⁻¹; 1 where it is empty
  Projection<T> project = {};       ///< where A has a null space, along which x drifts
  Shift<T> shift = {};              ///< where weights are given; the largest |D⁻¹ r| where it is empty
};

struct Options {
  iterate::Limits limits{.tolerance = 1e-8, .most_iterations = 10'000};  ///< of ‖D⁻¹ (b - A·x)‖ / ‖D⁻¹ b‖
  Sums sums = Sums::fast;
};

/// What methods of conjugate gradients share: the problem, and the end. What a recurrence takes for the end is checked
/// by b - A·x, and where that is not within the tolerance, the iteration begins again from there. Where D is given, x
/// has to be within it, too: by its estimate, and by what b - A·x tells of x.
template <class T>
class ConjugateGradientBase {
 public:
  ConjugateGradientBase(const ConjugateGradientBase&) = delete;
  ConjugateGradientBase& operator=(const ConjugateGradientBase&) = delete;
  virtual ~ConjugateGradientBase() = default;

  /// False: there is nothing to do any more, and state() tells why.
  virtual bool advance() = 0;
  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  on all ranks, where the state is of another problem
  void resume(const iterate::Checkpoint& checkpoint);
  [[nodiscard]] const iterate::State& state() const noexcept { return course_.state(); }
  [[nodiscard]] const std::vector<double>& errors() const noexcept { return course_.errors(); }
  /// Where D is given: what x is off by, as a part of its largest element. Infinite where nothing is known.
  [[nodiscard]] std::optional<double> estimated_error() const {
    return estimate_ ? std::optional(estimate_->value()) : std::nullopt;
  }

 protected:
  enum class Verdict : unsigned char { goes_on, begins_again, is_over };

  ConjugateGradientBase(mpi::Context& context, System<T> system, const Options& options);

  /// r ← b - A·x; over where that is small enough already.
  [[nodiscard]] Verdict begin();
  /// After an iteration whose recurrence has this ‖D⁻¹ r‖².
  [[nodiscard]] Verdict took(double residual_squared);
  /// Of r = b - A·x, and ‖D⁻¹ r‖ / ‖D⁻¹ b‖: whether that is the end.
  [[nodiscard]] Verdict judge(double error, std::span<const T> r);
  [[nodiscard]] Verdict converged(double error);
  /// Ends where no more iterations are allowed, with the true error of the last one; r stays, so that a run that is
  /// resumed there has the same bits.
  [[nodiscard]] bool is_over_at_limit(std::span<T> memory);
  /// That, and r ← b - A·x.
  [[nodiscard]] double true_error(std::span<T> r);
  /// Where it is time to ask: whether r is still b - A·x, or what is to be done, then from what that is.
  [[nodiscard]] Verdict look_at_recurrence();
  [[nodiscard]] Verdict fail(std::string reason);
  /// Likewise where nothing is known of x.
  [[nodiscard]] Verdict lose(std::string reason);
  /// Adds ‖D⁻¹ values‖² to a sum.
  void add_square(std::size_t sum, std::span<const T> values);
  /// What a checkpoint has beside x and r: set once, by whoever has them.
  struct Kept {
    std::vector<std::pair<std::string, std::span<T>>> vectors;
    std::vector<std::pair<std::string, double*>> numbers;
  };

  mpi::Context& context_;
  System<T> system_;
  bool weighs_;  // as a rank without elements has none
  iterate::Limits limits_;
  iterate::Course course_;
  std::vector<T> r_;
  Dots dots_;
  double norm_squared_ = 0;  // of D⁻¹ b
  double last_true_error_ = -1;
  double least_error_ = INFINITY;  // of recurrences, since they began
  bool has_begun_ = false;
  Kept kept_;
  std::string_view why_it_stays_ = "which is what rounding leaves";

 private:
  [[nodiscard]] double relative(double residual_squared) const;

  [[nodiscard]] std::string_view norm() const noexcept;

  /// x, but for what A makes 0 of.
  [[nodiscard]] std::span<const T> projected_x();

  /// Whether b - A·x tells of no error of x above the tolerance.
  [[nodiscard]] bool is_right(std::span<const T> r);

  /// By what, for people.
  [[nodiscard]] std::string off_by() const;

  /// Whether x is within the tolerance by its estimate, or can't come nearer.
  [[nodiscard]] bool is_near(double error) const;

  std::vector<T> weighted_;
  std::vector<T> projected_;  // x, to be looked at
  std::optional<ErrorEstimate<T>> estimate_;
};

/// Solves A·x = b for a symmetric positive definite A by the method of conjugate gradients, from the x that is there:
///
///     q = A·p;  α = r·z / p·q;  x += α·p;  r' = r - α·q;  z' = M·r';  β = z'·(r' - r) / z·r;  p' = z' + β·p
///
/// with two reductions an iteration. M is a preconditioner, the identity where there is none; it need not be symmetric
/// nor the same in all iterations, which is what this β is for. An A that is not positive definite ends the iteration
/// as `iterate::End::numbers`. D, which is diagonal, has a part in errors
/// alone.
///
/// Everything is collective over the context, which outlives this.
///
/// Sources: Hestenes & Stiefel (1952); Golub & Ye, "Inexact preconditioned conjugate gradient method", SIAM J. Sci.
/// Comput. 21 (1999).
template <class T>
class ConjugateGradient : public ConjugateGradientBase<T> {
 public:
  /// \throws ArgumentError  on all ranks: b, x and weights of different lengths, limits below 0, ranks that differ in
  ///                        options
  /// \throws OutOfMemory    on all ranks, where one has too little
  ConjugateGradient(mpi::Context& context, System<T> system, const Options& options = {},
                    Operator<T> preconditioner = {});

  bool advance() override;

 private:
  using Base = ConjugateGradientBase<T>;
  using Verdict = typename Base::Verdict;

  bool begin_again();
  [[nodiscard]] std::span<const T> preconditioned();

  Operator<T> preconditioner_;
  std::vector<T> p_, q_, z_;
  double rz_ = 0;
};

/// The same without a preconditioner and with one reduction an iteration, which is under way while A is applied:
///
///     γ = r·r, δ = w·r  and meanwhile  n = A·w;  β = γ/γ', α = γ / (δ - β γ/α');
///     z = n + β·z;  s = w + β·s;  p = r + β·p;  x += α·p;  r -= α·s;  w -= α·z
///
/// In return it has three vectors more, and loses some digits of what can be reached at all.
///
/// Source: Ghysels & Vanroose, "Hiding global synchronization latency in the preconditioned Conjugate Gradient
/// algorithm", Parallel Computing 40 (2014), algorithm 3.
template <class T>
class PipelinedConjugateGradient : public ConjugateGradientBase<T> {
 public:
  /// \throws ArgumentError, OutOfMemory  as above
  PipelinedConjugateGradient(mpi::Context& context, System<T> system, const Options& options = {});

  bool advance() override;

  /// How many reductions there were, and how many of them were over on this rank by the time that A was applied.
  [[nodiscard]] Index reductions() const noexcept { return reductions_; }
  [[nodiscard]] Index hidden_reductions() const noexcept { return hidden_; }

 private:
  using Base = ConjugateGradientBase<T>;
  using Verdict = typename Base::Verdict;

  bool begin_again();

  std::vector<T> w_, n_, z_, s_, p_;
  double gamma_ = 0;
  double alpha_ = 0;       // before the first direction
  double directions_ = 0;  // that x went along
  Index reductions_ = 0, hidden_ = 0;
};

}  // namespace plait::krylov
