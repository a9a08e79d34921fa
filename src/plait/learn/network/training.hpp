#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/iterate/solver.hpp"
#include "plait/learn/network/batches.hpp"
#include "plait/learn/network/layers.hpp"
#include "plait/learn/network/pass.hpp"
#include "plait/learn/quality.hpp"
#include "plait/learn/samples.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::learn {

enum class Optimizer : unsigned char {
  sgd,       ///< w ← w - step g
  momentum,  ///< v ← 0.9 v + step g, w ← w - v
  adam,      ///< steps by the mean of gradients over the root of that of their squares
  lars,      ///< momentum, with steps times 0.001 |W| / |g of W| of each layer: for large batches
};
[[nodiscard]] const char* name(Optimizer optimizer);

struct TrainingOptions {
  Optimizer optimizer = Optimizer::adam;
  double step = 0;   ///< 0: 0.1, 0.01, 0.001 and 1 by optimizer
  double l2 = 1e-4;  ///< λ of ½ λ |W|², which is added to the loss of a batch
  Index batch = 64;  ///< samples
  Index epochs = 10;
  std::uint64_t seed = 0;
  bool reproducible = false;  ///< the same bits on any number of ranks
};

/// Trains a network on samples, data parallel: each rank goes to and fro through its part of a batch, and the gradients
/// of a layer are added up over the ranks while those of the layers before it are computed. All ranks have all
/// parameters. An iteration is an epoch.
///
///     Training<double> training(samples, parse_layers("dense 128 relu, dense 10 softmax", {1, 1, 64}), {});
///     iterate::run(training);
///     const Quality quality = training.quality();
///
/// Batches are the same on any number of ranks, so results differ by rounding. `reproducible`: each rank has whole
/// grains of a batch, 16 samples each, whose gradients are rounded to multiples of such a power of two that sums over
/// all have no rounding at all; then they have the same bits on any number of ranks.
///
/// Columns of samples are taken less their mean, over their deviation, those of a channel of an image by that of all of
/// them; so are targets of a network that tells numbers and ends in the identity.
///
/// Sources: Kingma, Ba, "Adam: a method for stochastic optimization", ICLR 2015; You, Gitman, Ginsburg, "Large batch
/// training of convolutional networks", arXiv:1708.03888; Lee et al., "Parallel deep convolutional neural network
/// training by exploiting the overlapping of computation and communication", HiPC 2017; for sums without rounding,
/// Demmel, Nguyen, "Fast reproducible floating-point summation", ARITH 21 (2013).
template <class T>
class Training {
 public:
  /// \param samples  of a logistic model where the network ends in a softmax, of a linear one else; outlive this
  /// \throws ArgumentError  on all ranks: layers that take other samples, labels out of range, a batch with less
  /// samples
  ///                        than ranks, wrong options
  /// \throws OutOfMemory    on all ranks, where one has too little
  Training(const Samples<T>& samples, std::vector<Layer> layers, const TrainingOptions& options);
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  /// \throws ArgumentError  on all ranks: the loss is no finite number, naming the layer and the step
  bool advance();
  [[nodiscard]] const iterate::State& state() const noexcept { return state_; }
  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  the state is of another network, or has as many epochs as are wanted
  void resume(const iterate::Checkpoint& checkpoint);

  /// The mean of the loss over the samples of each epoch, each as it was when its batch came.
  [[nodiscard]] const std::vector<double>& losses() const noexcept { return losses_; }
  /// With what was left to choose.
  [[nodiscard]] const TrainingOptions& options() const noexcept { return options_; }
  /// Of each layer; the same on all ranks.
  [[nodiscard]] const std::vector<Parameters>& parameters() const noexcept { return parameters_; }
  /// What samples are taken less, and divided by; those of targets last.
  [[nodiscard]] const std::vector<double>& means() const noexcept { return means_; }
  [[nodiscard]] const std::vector<double>& scales() const noexcept { return scales_; }

  /// What the network says of some of these or other samples: numbers, or labels of classes. Local.
  void predict(RowBlock<const T> samples, std::span<const Index> rows, Pass& pass, std::vector<double>& said) const;
  /// Of 64 samples, as many as are predicted at a time at most.
  [[nodiscard]] Pass pass_to_predict() const { return Pass(layers_, predicted_at_once, false); }
  /// Collective.
  [[nodiscard]] Quality quality() const;

  [[nodiscard]] static Index bytes(const Samples<T>& samples, const std::vector<Layer>& layers,
                                   const TrainingOptions& options);

 private:
  static constexpr Index predicted_at_once = 64;

  [[nodiscard]] bool tells_classes() const { return layers_.back().activation == Activation::softmax; }
  void share_scaling_of_channels();
  void take(RowBlock<const T> rows, Index row, double* to) const;
  void step(Index batch);
  void begin_sum(Index l, Index samples);
  void update(Index l);
  [[noreturn]] void throw_not_finite(Index samples);

  const Samples<T>& samples_;
  mpi::Context& context_;
  std::vector<Layer> layers_;
  TrainingOptions options_;
  std::vector<double> means_, scales_;
  std::vector<Parameters> parameters_, gradients_, first_, second_;  // moments
  Batches<T> batches_;
  int threads_;  // of BLAS
  Pass pass_;
  Vector<double> targets_, grain_;
  Vector<double> bounds_;                                // of sums over a batch, of each layer
  std::vector<std::optional<schedule::Schedule>> sums_;  // of gradients
  simd::ExactSum loss_;
  Index steps_ = 0;
  std::vector<double> losses_;
  iterate::State state_;
};

}  // namespace plait::learn
