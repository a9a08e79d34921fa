#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "plait/base/index.hpp"
#include "plait/collective/node_stages.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::bench {

/// The steps from a ring to COFFEE's allreduce.
///
/// Source: COFFEE, sections V and VI, Fig. 16; for leaders, SALaR, as described there.
struct Levels {
  enum class Way : unsigned char {
    ring,      ///< through all ranks, nodes or not
    leaders,   ///< each node reduces to its first rank by messages; a ring of these; each broadcasts in its node
    scattered  ///< each node reduce-scatters among its ranks; rings of those of equal place; each node gathers
  } way;
  bool shares_memory = false;     // within nodes, where it is scattered; otherwise messages
  bool overlaps = false;          // chunks, so that one is in the nodes while another one travels; otherwise one
  bool overlaps_compute = false;  // a chunk is computed with as soon as it has come; otherwise nothing is

  /// Such as "scattered+window+chunks".
  [[nodiscard]] std::string name() const;
};

/// Sums up a vector of doubles, in place.
class LevelledAllreduce {
 public:
  /// Collective.
  /// \param compute  called for each chunk that has come, with its elements and the number of the first one, if
  ///                 `levels` has it so
  LevelledAllreduce(mpi::Context& context, Index elements, const Levels& levels,
                    std::function<void(std::span<std::byte> elements, Index first)> compute);

  void run(std::span<double> data);

 private:
  std::unique_ptr<collective::NodeStages> reduce_, gather_;  // outlive the schedule
  schedule::Schedule schedule_;
};

}  // namespace plait::bench
