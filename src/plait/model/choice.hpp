#pragma once

#include <array>
#include <optional>
#include <string>

#include "plait/base/index.hpp"
#include "plait/model/algorithms.hpp"
#include "plait/model/costs.hpp"
#include "plait/model/machine.hpp"
#include "plait/model/placement.hpp"

/// How an operation is carried out: by which algorithm, in how many strands, in segments of which size.
///
/// A choice is a function of its arguments alone, so that ranks which know the same choose the same, whatever the
/// communication: a difference would be a deadlock. Of ways whose predicted times differ by less than a percent, the
/// first is taken: the earlier algorithm, fewer strands, longer segments.
namespace plait::model {

/// What the caller decides; what is empty is chosen.
template <Algorithm A>
struct Wishes {
  std::optional<A> algorithm = {};
  std::optional<int> strands = {};
  std::optional<Index> segment_bytes = {};
};

/// One way to carry an operation out.
template <Algorithm A>
struct Candidate {
  A algorithm = {};
  int strands = 1;
  Index segment_bytes = 1;  // at most; as long as a strand where it is not cut
  double seconds = 0;       // predicted
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// The way that was chosen, and the best one of each algorithm, in the order of the enumeration.
template <Algorithm A>
struct Choice : Candidate<A> {
  std::array<Candidate<A>, algorithms<A>> candidates;
  friend bool operator==(const Choice&, const Choice&) = default;
};

/// Takes some tens of microseconds among few ranks, and a millisecond among a thousand: callers who do the same often
/// keep what was chosen.
///
/// \param bytes  of the whole vector, as for `cost`
/// \throws ArgumentError  bytes or the placement are negative or 0, or a wish is below 1
template <Algorithm A>
[[nodiscard]] Choice<A> choose(const Machine& machine, const Placement& placement, Index bytes,
                               const Wishes<A>& wishes = {});

/// A line for people: "allreduce of 16000000 B on 4 ranks of 4 nodes: ring, 1 strand, segments of 16000 B, 204 ms
/// (recursive-doubling 512 ms, …)".
template <Algorithm A>
[[nodiscard]] std::string describe(const Choice<A>& choice, const Placement& placement, Index bytes);

}  // namespace plait::model
