#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/learn/network/layers.hpp"
#include "plait/learn/network/sharing.hpp"
#include "plait/simd/exact/exact_sum.hpp"

namespace plait::learn {

/// The rows of W of a layer, each with its b behind it; and the same of its gradients.
using Parameters = Vector<double>;

/// Where training begins: W uniform with the variance that keeps that of numbers (2 / inputs for relu, else 2 / (inputs
/// + outputs)), b = 0. Numbers depend on the seed and their place only.
[[nodiscard]] std::vector<Parameters> random_parameters(const std::vector<Layer>& layers, std::uint64_t seed);
/// The rows of them that a rank has.
[[nodiscard]] Parameters own_part(const std::vector<double>& all, const Layer& layer, Sharing::Rows rows);

/// A rank's part of a batch on its way through its part of a network, forward and backward. Local: `Exchanges` moves
/// numbers between ranks. Numbers of a sample lie side by side, its layers' after each other; products are BLAS'. What
/// is made of some of the samples depends on these, on how many there are and on nothing else, if BLAS works with one
/// thread.
///
/// The loss is -log of the probability of the right class where the network ends in a softmax, else half the square of
/// the difference from a number.
class Pass {
 public:
  /// For a rank that has so many samples of batches of so many at most.
  Pass(const Sharing& sharing, int rank, Index own, Index batch, bool goes_back = true);
  /// Of all layers.
  Pass(const std::vector<Layer>& layers, Index samples, bool goes_back = true)
      : Pass(Sharing(layers), 0, samples, samples, goes_back) {
    begin(samples, samples);
  }

  /// What follows is of a batch of so many.
  void begin(Index own, Index batch);

  /// The numbers that layer l makes; l = -1: those of samples, which are written here, one after the other. And the
  /// slopes of the loss by them, then by W x + b.
  [[nodiscard]] double* made(Index l) noexcept { return levels_[l + 1].made.data(); }
  [[nodiscard]] double* slopes(Index l) noexcept { return levels_[l + 1].slopes.data(); }
  /// With ghosts, where `Sharing` has them.
  [[nodiscard]] double* ghosted(Index l) noexcept;
  /// Those that layer l takes, the same memory where nothing moves; l = layers: the loss.
  [[nodiscard]] double* taken(Index l) noexcept;
  [[nodiscard]] double* taken_slopes(Index l) noexcept;

  [[nodiscard]] double* input() noexcept { return made(-1); }
  [[nodiscard]] std::span<const double> output(Index sample);
  /// What layer l makes of a sample.
  [[nodiscard]] std::span<const double> numbers(Index l, Index sample);
  /// As many as the layer gets.
  [[nodiscard]] Index samples(Index l) const { return levels_[l].samples; }

  /// The first sample, and how many.
  struct Range {
    Index first = 0, count = 0;
  };
  /// Through layer l.
  void forward(const Parameters& parameters, Index l, Range samples);
  /// The probabilities of a softmax, if there is one.
  void tell(Range samples);
  /// Through all, with nothing between.
  void forward(const std::vector<Parameters>& parameters, Range samples);
  /// Adds the losses to a sum, and begins to go back with `share` times their slopes.
  void losses(std::span<const double> targets, double share, Range samples, simd::ExactSum& sum);
  /// Slopes by what layer l makes become those by W x + b.
  void through(Index l, Range samples);
  /// Goes back to what layer l takes. \pre  l >= 1
  void back(const Parameters& parameters, Index l, Range samples);
  /// gradient ← that of the parameters of some units of a layer, of all those from the first one on for which there is
  /// room; the sum over samples
  void gradient(Index l, Range samples, std::span<double> gradient, Index first_unit = 0);
  /// What no number of the gradient that one of the samples has in a layer is above.
  [[nodiscard]] double bound(Index l, Range samples);

  /// What is called between products, some milliseconds apart at most.
  std::function<void()> between = [] {};

  [[nodiscard]] static Index bytes(const Sharing& sharing, int rank, Index own, Index batch, bool goes_back = true);

 private:
  [[nodiscard]] Range of(Index l, Range samples) const;
  // Numbers behind a layer, or those of samples.
  struct Level {
    Vector<double> made{}, slopes{}, taken{}, taken_slopes{}, ghosted{};
    Index samples = 0;  // that are taken
    bool moves = false, moves_back = false;
  };
  template <class F>
  static void for_each_array(const Sharing& sharing, int rank, Index own, Index batch, bool goes_back, const F& f);
  static Index samples_at_once(const Layer& layer);
  /// What W is multiplied by: of a dense layer samples as they are, else their patches, until the next call.
  [[nodiscard]] const double* columns_of(const Layer& layer, const double* samples, Index count);
  [[nodiscard]] const Layer& part(Index l) const { return parts_[static_cast<std::size_t>(l)]; }

  Sharing sharing_;
  int rank_;
  std::vector<Layer> parts_, backs_;
  Vector<Level> levels_;
  Vector<double> patches_;  // what lies around the places of some images
  Vector<double> biases_;   // of a layer
};

}  // namespace plait::learn
