#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/learn/samples.hpp"

namespace plait::learn {

/// How right a model is: the share of samples of which the class is right, or  R² = 1 - Σ (z - y)² / Σ (y - mean)²;
/// NaN of no samples. Of those it learnt from, and of those held out.
struct Quality {
  double training = 0, held_out = 0;
  Index samples_held_out = 0;
};

/// \param predict  what the model says of some of this rank's samples: numbers, or labels of classes
/// Collective over the samples' context; by exact sums.
template <class T>
[[nodiscard]] Quality quality_of(
    const Samples<T>& samples,
    const std::function<void(std::span<const Index> rows, std::vector<double>& said)>& predict);

}  // namespace plait::learn
