#pragma once

#include <vector>

#include "plait/base/index.hpp"
#include "plait/model/algorithms.hpp"
#include "plait/model/placement.hpp"

/// Who sends to whom, in each algorithm: the messages that the builders of plait::collective make of one segment, from
/// which the model takes what keeps which link busy, and which the tests compare with what is really sent.
///
/// Operations commute, and what has a root has rank 0 as its root: whoever chooses an algorithm knows no better alike
/// on all ranks.
namespace plait::model {

/// A message.
struct Hop {
  int from;
  int to;
  Index parts;  // of those into which the vector is cut
  friend bool operator==(const Hop&, const Hop&) = default;
};

/// Messages that are under way at the same time, none of which waits for another one.
struct Round {
  std::vector<Hop> hops;
  Index parts = 1;        // into which the vector is cut
  bool combines = false;  // what comes is combined with what the receiver has
  int times = 1;          // as many rounds between these, one after the other, of which no one's hops differ in classes
  bool is_chain = false;  // or else: each hop waits for the one before it
};

/// The rounds of an algorithm, one after the other; none for a single rank. Those of `hierarchical` leave out what goes
/// through memory that a node shares.
[[nodiscard]] std::vector<Round> rounds(BroadcastAlgorithm algorithm, const Placement& placement);
[[nodiscard]] std::vector<Round> rounds(ReduceAlgorithm algorithm, const Placement& placement);
[[nodiscard]] std::vector<Round> rounds(AllreduceAlgorithm algorithm, const Placement& placement);
[[nodiscard]] std::vector<Round> rounds(AllGatherAlgorithm algorithm, const Placement& placement);
[[nodiscard]] std::vector<Round> rounds(ReduceScatterAlgorithm algorithm, const Placement& placement);
[[nodiscard]] std::vector<Round> rounds(AllToAllAlgorithm algorithm, const Placement& placement);

}  // namespace plait::model
