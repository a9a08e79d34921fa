#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/learn/network/layers.hpp"
#include "plait/learn/network/pass.hpp"
#include "plait/learn/samples.hpp"

namespace plait::learn {

/// A network that was trained: all of it.
struct Network {
  std::vector<Layer> layers{};
  std::vector<Parameters> parameters{};   ///< of each layer
  std::vector<double> means{}, scales{};  ///< what samples are taken less, and divided by; those of targets last

  [[nodiscard]] bool tells_classes() const { return layers.back().activation == Activation::softmax; }
  /// The numbers of a sample as the first layer takes them.
  void take(const Rows& samples, Index row, double* to) const;

  /// Of 64 samples, as many as are predicted at a time at most.
  [[nodiscard]] Pass pass_to_predict() const { return {layers, predicted_at_once, false}; }
  /// What the network says of some samples: numbers, or labels of classes; NaN where its outputs left the
  /// range of numbers. Local.
  void predict(const Rows& samples, std::span<const Index> rows, Pass& pass, std::vector<double>& said) const;
  /// Collective over the samples' context.
  [[nodiscard]] Quality quality(const Samples& samples) const;

  static constexpr Index predicted_at_once = 64;
};

}  // namespace plait::learn
