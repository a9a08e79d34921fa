#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/learn/network/layers.hpp"
#include "plait/simd/exact/exact_sum.hpp"

namespace plait::learn {

/// W of a layer by rows, then b; and the same of its gradients.
using Parameters = Vector<double>;

/// Where training begins: W uniform with the variance that keeps that of numbers (2 / inputs for relu, else 2 / (inputs
/// + outputs)), b = 0. Numbers depend on the seed and their place only.
[[nodiscard]] std::vector<Parameters> random_parameters(const std::vector<Layer>& layers, std::uint64_t seed);

/// Some samples on their way through a network, to and fro. Local. Numbers of a sample lie side by side, its layers'
/// after each other; products are BLAS'. What is made of some of the samples depends on these, on how many there are
/// and on nothing else, if BLAS works with one thread.
///
/// The loss is -log of the probability of the right class where the network ends in a softmax, else half the square of
/// the difference from a number.
class Pass {
 public:
  /// For so many samples at most. The layers outlive this.
  Pass(const std::vector<Layer>& layers, Index samples, bool goes_back = true);

  /// Samples are written here, one after the other.
  [[nodiscard]] double* input() noexcept { return numbers_[0].data(); }
  [[nodiscard]] std::span<const double> output(Index sample) const;
  /// What layer l makes of a sample; l = -1: the sample itself.
  [[nodiscard]] std::span<const double> numbers(Index l, Index sample) const;

  /// The first sample, and how many.
  struct Range {
    Index first = 0, count = 0;
  };
  void forward(const std::vector<Parameters>& parameters, Range samples);
  /// Adds the losses to a sum, and begins to go back with `share` times their slopes.
  void losses(std::span<const double> targets, double share, Range samples, simd::ExactSum& sum);
  /// Goes back from layer l to the one before it.
  /// \pre  l >= 1
  void back(const std::vector<Parameters>& parameters, Index l, Range samples);
  /// gradient ← that of a layer's parameters, the sum over samples
  void gradient(Index l, Range samples, std::span<double> gradient);
  /// What no number of the gradient that one of the samples has in a layer is above.
  [[nodiscard]] double bound(Index l, Range samples) const;

  /// What is called between products, some milliseconds apart at most.
  std::function<void()> between = [] {};

  [[nodiscard]] static Index bytes(const std::vector<Layer>& layers, Index samples, bool goes_back = true);

 private:
  [[nodiscard]] const Layer& layer(Index l) const { return layers_[static_cast<std::size_t>(l)]; }
  [[nodiscard]] static Index samples_at_once(const Layer& layer);
  void activate(const Layer& layer, const double* biases, double* z, Index columns) const;

  const std::vector<Layer>& layers_;
  std::vector<Vector<double>> numbers_;  // of samples, then of what each layer makes of them
  std::vector<Vector<double>> slopes_;   // of the loss, by W x + b of each layer
  Vector<double> patches_;               // what lies around the places of some images
};

}  // namespace plait::learn
