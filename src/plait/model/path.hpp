#pragma once

#include "plait/base/index.hpp"
#include "plait/model/cost.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"

namespace plait::model {

/// Who talks to whom in a step of an algorithm.
enum class Pattern : unsigned char {
  tree,      ///< some ranks send to others, half as far apart in each step: one message of a rank at a time
  exchange,  ///< pairs at a distance that is a power of two, all ranks at once
  shift,     ///< every rank sends to the one at a distance, and receives from the other side
};

struct Step {
  Pattern pattern;
  Index bytes = 0;        // that a rank sends
  Index distance = 1;     // in ranks
  bool combines = false;  // what comes is combined with what the receiver has
};

/// Adds up the steps that a strand passes one after the other, by the model of Hockney with a bandwidth that depends on
/// the size of messages: a message of m bytes takes alpha + m / f_BW(m), and those of a stream follow each other after
/// m / f_BW(m).
///
/// Data travel in segments, and a segment goes on as soon as it has come and was combined: a step ends so much later
/// than the one before as its first segment takes, or as long as all of its segments keep the link or the core busy.
/// Where ranks of one node use its link, or its memory, they share the rate that was measured for so many.
class Path {
 public:
  /// \pre  segment_bytes >= 1; placement.ranks and ranks_per_node are >= 1
  Path(const Machine& machine, Placement placement, Index segment_bytes)
      : machine_(machine), placement_(placement), segment_bytes_(segment_bytes) {}

  /// `times` steps like this one. Those of no bytes cost nothing.
  void add(const Step& step, int times = 1);

  /// From rank to rank along a chain of all of them, combined on the way or not.
  void add_chain(Index bytes, bool combines);

  /// Work of a core, and of nobody else.
  void add_core(double seconds) noexcept {
    cost_.first_seconds += seconds;
    cost_.core_seconds += seconds;
  }

  [[nodiscard]] Cost cost() const noexcept {
    Cost all = cost_;
    all.first_seconds += last_segments_seconds_;
    return all;
  }

 private:
  struct Message;
  [[nodiscard]] Message message(const Link& link, Pattern pattern, Index bytes, Index ranks) const;

  const Machine& machine_;
  Placement placement_;
  Index segment_bytes_;
  Cost cost_;
  double last_segments_seconds_ = 0;  // of the last step, after its first segment has gone through
};

}  // namespace plait::model
