#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/learn/samples.hpp"

namespace plait::learn {

/// Of each output a row: a weight for each column, then the intercept.
using Weights = Vector<double>;

/// What a model makes of its outputs: z, or one of the classes; NaN where one of them is NaN.
[[nodiscard]] double prediction(Model model, std::span<const double> classes, std::span<const double> z);

/// z of samples, as it is computed: z = W (x - origin) + b' + origin of targets.
struct LinearModel {
  Vector<double> origin;  ///< of columns, then of targets
  Weights slopes;         ///< W and b'

  [[nodiscard]] Index dimension() const noexcept { return origin.count() - 1; }
  /// Of some samples, one after the other. That of a sample depends on nothing else.
  void outputs(const Rows& samples, std::span<const Index> rows, std::vector<double>& z) const;
  /// What is said of them, one after the other: see `prediction`.
  void predict(Model model, std::span<const double> classes, const Rows& samples, std::span<const Index> rows,
               std::vector<double>& said) const;
  /// W and b of z = W x + b, which are rounded once.
  [[nodiscard]] Weights weights() const;
};

/// What samples differ from an origin by, one after the other.
void center(const Rows& samples, std::span<const Index> rows, const Vector<double>& origin, std::vector<double>& x);
/// W x + b of such ones.
void outputs_at(const Weights& w, const std::vector<double>& x, Index dimension, std::vector<double>& z);

}  // namespace plait::learn
