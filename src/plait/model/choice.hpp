#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

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
  std::optional<A> except = {};  // is not chosen, though its time is told
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

/// All algorithms of an operation among ranks that are there. To make it takes as long as to look at the messages of a
/// run of each, a millisecond among a thousand ranks: who chooses more than once keeps it (see `KnownAlternatives`).
template <Algorithm A>
class Alternatives {
 public:
  /// \throws ArgumentError  no ranks, none per node, or nodes of more or fewer ranks than there are
  explicit Alternatives(Placement placement);

  [[nodiscard]] const Placement& placement() const noexcept { return placement_; }
  [[nodiscard]] const Costs<A>& of(A algorithm) const { return costs_[static_cast<std::size_t>(algorithm)]; }

 private:
  Placement placement_;
  std::vector<Costs<A>> costs_;
};

/// Takes some tens of microseconds: callers who do the same often keep what was chosen.
///
/// \param bytes  of the whole vector, as for `cost`
/// \throws ArgumentError  bytes are negative, or a wish is below 1
template <Algorithm A>
[[nodiscard]] Choice<A> choose(const Machine& machine, const Alternatives<A>& alternatives, Index bytes,
                               const Wishes<A>& wishes = {});

/// \throws ArgumentError  likewise, and as `Alternatives` does
template <Algorithm A>
[[nodiscard]] Choice<A> choose(const Machine& machine, const Placement& placement, Index bytes,
                               const Wishes<A>& wishes = {}) {
  return choose(machine, Alternatives<A>(placement), bytes, wishes);
}

/// A line for people: "allreduce of 16000000 B on 4 ranks of 4 nodes: ring, 1 strand, segments of 16000 B, 204 ms
/// (recursive-doubling 512 ms, …)".
template <Algorithm A>
[[nodiscard]] std::string describe(const Choice<A>& choice, const Placement& placement, Index bytes);

}  // namespace plait::model
