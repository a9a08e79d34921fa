#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/learn/row_sums.hpp"
#include "plait/learn/samples.hpp"

namespace plait::learn {

/// Of each output a row: a weight for each column, then the intercept.
using Weights = Vector<double>;

/// z = W x + b of some of a rank's samples, one after the other. That of a sample depends on nothing else.
template <class T>
void outputs_of(const Weights& weights, Index outputs, RowBlock<const T> samples, std::span<const Index> rows,
                std::vector<double>& z);

/// What a model makes of its outputs: z, or one of the classes.
[[nodiscard]] double prediction(Model model, std::span<const double> classes, std::span<const double> z);

/// What a linear model is to make least:
///
///     F(W, b) = 1/n Σ_i loss(W x_i + b, y_i) + ½ λ |W|²,
///
/// over the n samples to learn from. It is convex. Sums over samples are as `RowSums` has them, so that F and its
/// gradient have the same bits on any number of ranks.
///
/// Solvers take variables u in which its curvature is about the same in all directions along axes: weights are
/// u / √(variance of the column + λ / curvature of the loss), and the intercept is that at the mean of the samples.
template <class T>
class Objective {
 public:
  struct Value {
    double objective = 0;
    Weights gradient;
    bool is_finite = true;  ///< otherwise the weights left the range of numbers, and the others say nothing
  };

  /// \param l2  λ
  Objective(const Samples<T>& samples, double l2, bool intercept);

  [[nodiscard]] Index size() const noexcept { return samples_.outputs() * (samples_.dimension() + 1); }
  [[nodiscard]] Weights weights(const Weights& u) const;

  /// F, and its gradient by u. Collective.
  void evaluate(const Weights& u, Value& value);
  /// The gradient by u of the part of F that `rows` of this rank and others of other ranks, `count` in all, are, less
  /// that at another place. Collective.
  void difference(const Weights& u, const Weights& other, std::span<const Index> rows, Index count, Weights& gradient);

  /// Steps against the gradient of the part of F that one of this rank's samples is. Local.
  void step_down(Weights& u, Index sample, double length);

  /// A bound of the curvature by u of the loss of any sample, and of the mean of that over all.
  [[nodiscard]] double highest_curvature() const noexcept { return highest_curvature_; }
  [[nodiscard]] double mean_curvature() const noexcept { return mean_curvature_; }

 private:
  [[nodiscard]] bool begin(const Weights& w, const Weights* other);
  void add(std::span<const Index> rows, const Weights& w, const Weights* other);
  void finish(const Weights& w, const Weights* other, Index count, Weights& gradient);

  const Samples<T>& samples_;
  double l2_;
  bool has_intercept_;
  Vector<double> scale_;
  Vector<double> bounds_;  // of columns, of 1, and of the loss over that of residuals
  double highest_curvature_ = 0, mean_curvature_ = 0;
  RowSums sums_;
  std::vector<double> z_, other_z_, products_;
};

}  // namespace plait::learn
