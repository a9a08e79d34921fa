#pragma once

#include <array>

#include "plait/base/index.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"

namespace plait::model {

/// Steps of an iteration over a box of points, each of which reads the points next to one: what a rank exchanges with
/// its neighbours, and computes.
struct GhostedSteps {
  std::array<Index, 3> extents{1, 1, 1};  // of the largest part
  std::array<bool, 3> is_cut{};           // axes on which there are neighbours
  std::array<bool, 3> is_periodic{};      // on which a rank itself may be its neighbour
  Index bytes_sent_a_point = 8;           // of all fields that are exchanged
  Index bytes_moved_a_point = 48;         // from and to memory, by a step
  Index bytes_reduced = 0;                // summed up over all ranks once for each exchange
};

/// The time of one step where ghost layers are exchanged every `steps` of them, as wide: each step but the last one
/// also computes what neighbours do, in a layer less than the one before. Layers come by axes, one after the other.
/// \pre  steps >= 1
[[nodiscard]] double seconds_a_step(const GhostedSteps& work, const Machine& machine, const Placement& placement,
                                    Index steps);

/// For which that is least, of 1 to `most`.
[[nodiscard]] Index best_steps_per_exchange(const GhostedSteps& work, const Machine& machine,
                                            const Placement& placement, Index most);

}  // namespace plait::model
