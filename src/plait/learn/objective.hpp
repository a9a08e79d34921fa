#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/collective/group_sums.hpp"
#include "plait/learn/linear_model.hpp"
#include "plait/learn/samples.hpp"
#include "plait/simd/exact/exact_sum.hpp"

namespace plait::learn {

/// What every method takes.
/// \throws ArgumentError  one is no number from 0 to 1e60
void expect_step_and_l2(double step, double l2);

/// What a linear model is to make least:
///
///     F(W, b) = 1/n Σ_i loss(W x_i + b, y_i) + ½ λ |W|²,
///
/// over the n samples to learn from. It is convex. Losses are added exactly and gradients as
/// `collective::window_within` rounds them, so that both have the same bits on any number of ranks.
///
/// Solvers take variables u in which its curvature is about the same in all directions along axes: weights are
/// u / √(variance of the column + λ / curvature of the loss), and the intercept is that at the mean of the samples,
/// less the mean of the targets of a linear model. All is computed with what samples and targets differ from their
/// means by, which has all digits of a column that varies by little; without an intercept, with samples and targets as
/// they are.
class Objective {
 public:
  struct Value {
    double objective = 0;
    Weights gradient;
    bool is_finite = true;  ///< otherwise the weights left the range of numbers, and the others say nothing
  };

  /// \param l2  λ
  Objective(const Samples& samples, double l2, bool intercept);

  [[nodiscard]] Index size() const noexcept { return samples_.outputs() * (samples_.dimension() + 1); }
  [[nodiscard]] LinearModel model(const Weights& u) const { return {origin_, slopes(u)}; }
  /// The inverse, of the model's weights.
  /// \throws ArgumentError  not as many as there are variables, or numbers that are not finite
  [[nodiscard]] Weights variables(const Weights& weights) const;

  /// F, and its gradient by u. Collective.
  void evaluate(const Weights& u, Value& value);
  /// The gradient by u of the part of F that `rows` of this rank and others of other ranks, `count` in all, are, less
  /// that at another place. Collective.
  /// \param on_rank_0  only there; on the others it has no meaning
  void difference(const Weights& u, const Weights& other, std::span<const Index> rows, Index count, Weights& gradient,
                  bool on_rank_0 = false);

  /// The gradient by u of the part of F that some of this rank's samples are, one at least, by plain sums. Local.
  void own_gradient(const Weights& u, std::span<const Index> rows, Weights& gradient);

  /// A bound of the curvature by u of the loss of any sample, and of the mean of that over all.
  [[nodiscard]] double highest_curvature() const noexcept { return highest_curvature_; }
  [[nodiscard]] double mean_curvature() const noexcept { return mean_curvature_; }

 private:
  [[nodiscard]] double target(Index row) const { return samples_.target(row) - origin_.back(); }
  [[nodiscard]] Weights slopes(const Weights& u) const;
  [[nodiscard]] double largest_output(const Weights& w) const;
  [[nodiscard]] bool begin(const Weights& w, const Weights* other);
  void add(std::span<const Index> rows, const Weights& w, const Weights* other);
  void finish(const Weights& w, const Weights* other, Index count, Weights& gradient, bool on_rank_0 = false);

  const Samples& samples_;
  double l2_;
  bool has_intercept_;
  Vector<double> scale_;
  Vector<double> origin_;  // what is taken off columns and targets
  Vector<double> bounds_;  // of what is left of columns, and of 1
  double highest_curvature_ = 0, mean_curvature_ = 0;
  collective::GroupSums sums_;
  int exponent_ = 0;  // of the bounds of their addends, once they have begun
  simd::ExactSum loss_;
  std::vector<double> x_, z_, other_z_, products_;
};

}  // namespace plait::learn
