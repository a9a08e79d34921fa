#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/learn/network/layers.hpp"
#include "plait/learn/network/sharing.hpp"
#include "plait/learn/samples.hpp"
#include "plait/mpi/context.hpp"

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
  bool reproducible = false;  ///< the same bits on any number of ranks: data parallel, or in a pipeline
  Parallelism parallelism = Parallelism::data;
};

/// Numbers and slopes that a rank receives in a step whose samples lie between `splits`, without sums of gradients.
///
/// Of B samples on P ranks, with d numbers before a layer: model parallel (P - 1)/P B d for the numbers and as many for
/// the slopes, but for the first layer's; of rows of w places, in which c channels lie, around which h rows are looked
/// at, B w c h/2 a neighbour; from a stage of a pipeline to the next one B d.
[[nodiscard]] Index words_received(const Sharing& sharing, int rank, std::span<const Index> splits);

/// What a step of training takes, by the description of the machine.
struct Estimate {
  Parallelism parallelism = Parallelism::data;
  double computing_seconds = 0;      ///< of the rank with most
  double communicating_seconds = 0;  ///< as if none of it was hidden

  [[nodiscard]] double seconds() const noexcept { return computing_seconds + communicating_seconds; }
};

/// What a step takes by each way to share the work that suits the layers and the options, the quickest one first. The
/// same on all ranks.
[[nodiscard]] std::vector<Estimate> estimates(mpi::Context& context, const std::vector<Layer>& layers,
                                              const TrainingOptions& options);

/// Samples that go through the layers of a rank at once: few enough for ranks of a pipeline to begin soon; where bits
/// are to be the same, the same on any number of ranks.
[[nodiscard]] Index grain_of(const TrainingOptions& options, Parallelism parallelism, Index ranks);

/// The options, with those that are left open. Collective.
///
/// \throws ArgumentError  on all ranks: options that are wrong, that do not suit the layers or the samples, or that
///                        differ from rank to rank
[[nodiscard]] TrainingOptions checked_training(const Samples& samples, const std::vector<Layer>& layers,
                                               TrainingOptions options);

}  // namespace plait::learn
