#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "plait/base/index.hpp"
#include "plait/mpi/context.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::bench {

/// The steps from a ring to COFFEE's allreduce, and one beyond.
///
/// Source: COFFEE, sections V and VI, Fig. 16; for leaders, SALaR, as described in section V.B.
struct Levels {
  enum class Way : unsigned char {
    ring,      ///< through all ranks, nodes or not
    leaders,   ///< each node reduces to its first rank, all of it; a ring of these; each broadcasts in its node
    coffee,    ///< likewise, but that all ranks of a node reduce equal parts, which the first one gathers
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
  schedule::Schedule schedule_;
};

}  // namespace plait::bench
