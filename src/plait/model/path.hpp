#pragma once

#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/model/cost.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"
#include "plait/model/rounds.hpp"

namespace plait::model {

/// What a round asks of one class of links: of the network, or of the memory of a node.
struct Load {
  Index messages = 0;      // at once, on the node that has most of them in one direction
  Index parts = 0;         // of the longest one
  int hops = 0;            // of a chain, one after the other
  bool both_ways = false;  // somebody sends and receives
};

/// A round as the links see it.
struct Step {
  Load network;
  Load node;
  Index parts = 1;  // into which the vector is cut
  bool combines = false;
  int times = 1;
  bool is_chain = false;
};

[[nodiscard]] std::vector<Step> steps_of(std::span<const Round> rounds, const Placement& placement);

/// Adds up the steps that a strand passes one after the other, by the model of Hockney with a bandwidth that depends on
/// the size of messages: a message of m bytes takes alpha + m / f_BW(m), and those of a stream follow each other after
/// m / f_BW(m).
///
/// Data travel in segments, and a segment goes on as soon as it has come and was combined: a step ends so much later
/// than the one before as its first segment takes, or as long as all of its segments keep the link or the core busy.
/// Where ranks of one node use its link, or its memory, they share the rate that was measured for so many.
class Path {
 public:
  /// \pre  segment_bytes >= 1
  Path(const Machine& machine, Index segment_bytes) : machine_(machine), segment_bytes_(segment_bytes) {}

  /// For a vector of that many bytes, of which a step's messages have their parts. What has no bytes costs nothing.
  void add(const Step& step, Index vector_bytes);

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
  [[nodiscard]] Message message(const Link& link, const Load& load, Index bytes) const;
  void add_chain(const Step& step, const Message& far, const Message& near, Index bytes);

  const Machine& machine_;
  Index segment_bytes_;
  Cost cost_;
  double last_segments_seconds_ = 0;  // of the last step, after its first segment has gone through
};

}  // namespace plait::model
