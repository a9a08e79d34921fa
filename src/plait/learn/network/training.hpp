#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/base/vector.hpp"
#include "plait/iterate/course.hpp"
#include "plait/learn/network/batches.hpp"
#include "plait/learn/network/exchanges.hpp"
#include "plait/learn/network/network.hpp"
#include "plait/learn/network/pass.hpp"
#include "plait/learn/network/sharing.hpp"
#include "plait/learn/network/training_options.hpp"
#include "plait/learn/samples.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::learn {

/// Trains a network on samples. An iteration is an epoch.
///
///     Training training(samples, parse_layers("dense 128 relu, dense 10 softmax", {1, 1, 64}), {});
///     iterate::run(training);
///     const Network network = training.network();
///
/// Data parallel, each rank goes forward and backward through its part of a batch, and the gradients of a layer, of
/// some units at a time, are added up over the ranks while those of others and of the layers before it are computed;
/// all ranks have all parameters. See `Parallelism` for other ways.
///
/// Batches are the same on any number of ranks, so results differ by rounding, however ranks share the work.
/// `reproducible`: a batch is cut into grains of 16 to 64 samples, of which each rank has whole ones, and whose
/// gradients are rounded to multiples of such a power of two that sums over all have no rounding at all; then they have
/// the same bits on any number of ranks.
///
/// Columns of samples are taken less their mean, over their deviation, those of a channel of an image by that of all of
/// them; so are targets of a network that tells numbers and ends in the identity.
///
/// Sources: Kingma, Ba, "Adam: a method for stochastic optimization", ICLR 2015; You, Gitman, Ginsburg, "Large batch
/// training of convolutional networks", arXiv:1708.03888; Lee et al., "Parallel deep convolutional neural network
/// training by exploiting the overlapping of computation and communication", HiPC 2017; for sums without rounding,
/// Demmel, Nguyen, "Fast reproducible floating-point summation", ARITH 21 (2013).
class Training {
 public:
  /// \param samples  of a logistic model where the network ends in a softmax, of a linear one else; outlive this
  /// \param start    what to begin with, of the same layers; random numbers where there is none
  /// \throws ArgumentError  on all ranks: layers that take other samples, labels out of range, a batch with less
  /// samples
  ///                        than ranks that share them, wrong options, what `Sharing` refuses
  /// \throws OutOfMemory    on all ranks, where one has too little
  Training(const Samples& samples, std::vector<Layer> layers, const TrainingOptions& options,
           const Network* start = nullptr);
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  /// \throws ArgumentError  on all ranks: the loss is no finite number, naming the layer and the step
  bool advance();
  [[nodiscard]] const iterate::State& state() const noexcept { return course_.state(); }
  void save(iterate::Checkpoint& checkpoint) const;
  /// \throws ArgumentError  the state is of another network, or has as many epochs as are wanted
  void resume(const iterate::Checkpoint& checkpoint);

  /// The mean of the loss over the samples of each epoch, each as it was when its batch came.
  [[nodiscard]] const std::vector<double>& losses() const noexcept { return course_.errors(); }
  /// With what was left to choose.
  [[nodiscard]] const TrainingOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Sharing& sharing() const noexcept { return sharing_; }
  /// As it is now. Collective.
  [[nodiscard]] Network network() const;

  [[nodiscard]] static Index bytes(const Samples& samples, const std::vector<Layer>& layers,
                                   const TrainingOptions& options);

 private:
  void share_scaling_of_channels();
  void step(Index batch);
  void update(Index l);
  [[nodiscard]] std::vector<Parameters> whole(const std::vector<Parameters>& own) const;
  [[noreturn]] void throw_not_finite();

  const Samples& samples_;
  mpi::Context& context_;
  TrainingOptions options_;
  Sharing sharing_;
  Network network_;                                     // with the parameters of this rank
  std::vector<Parameters> gradients_, first_, second_;  // moments
  Index grain_;                                         // samples that go through the layers at once
  Batches batches_;
  iterate::Course course_;  // of losses
  int threads_;             // of BLAS
  Pass pass_;
  Exchanges exchanges_;
  Vector<double> targets_, of_grain_;
  Vector<double> bounds_;  // of sums over a batch, of each layer
  /// Units of a layer from one on, whose gradient is summed over the ranks by itself; the last one of all with what
  /// tells whether the loss is a number.
  struct Block {
    Index first_unit = 0;
    std::span<double> gradient{};
    std::optional<schedule::Schedule> sum{};  ///< where ranks add up
  };
  std::vector<std::vector<Block>> blocks_;  // of each layer
  simd::ExactSum loss_;
  Index steps_ = 0;
};

}  // namespace plait::learn
