#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/learn/network/sharing.hpp"
#include "plait/mpi/context.hpp"

namespace plait::learn {

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

/// Of batches of so many samples, which go through a pipeline `grain` at a time. The same on all ranks.
[[nodiscard]] Estimate estimate(mpi::Context& context, const Sharing& sharing, Index batch, Index grain);

}  // namespace plait::learn
