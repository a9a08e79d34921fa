#include "plait/model/choice.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/rounding.hpp"
#include "plait/model/strands.hpp"

namespace plait::model {

namespace {

/// What may be chosen among, by the link that limits an operation between these ranks.
struct Ways {
  std::vector<int> strands;
  std::vector<Index> segments;  // the longest first; longer ones than a strand stand for an uncut one
};

template <Algorithm A>
Ways ways_of(const Machine& machine, const Placement& placement, Index bytes, const Wishes<A>& wishes) {
  const BandwidthCurve& bandwidth = (placement.nodes() == 1 ? machine.node : machine.network).streams.front().both_ways;
  Ways ways;
  if (wishes.strands) {
    ways.strands = {*wishes.strands};
  } else {
    ways.strands = possible_strands(bandwidth, bytes);
  }
  if (wishes.segment_bytes) {
    ways.segments = {*wishes.segment_bytes};
    return ways;
  }
  ways.segments = possible_segments(bandwidth, bytes);
  return ways;
}

template <Algorithm A>
Candidate<A> best_of(A algorithm, const Machine& machine, const Costs<A>& costs, Index bytes, const Ways& ways) {
  std::optional<Candidate<A>> best;
  for (const int strands : ways.strands) {
    const Index strand_bytes = quotient_up(bytes, strands);
    for (const Index segment : ways.segments) {
      const Index segment_bytes = std::clamp<Index>(segment, 1, std::max<Index>(1, strand_bytes));
      const double time = seconds(costs.of(machine, strand_bytes, segment_bytes), strands);
      if (!best || time < worth_a_change * best->seconds) best = {algorithm, strands, segment_bytes, time};
    }
  }
  return *best;
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} us", seconds * 1e6);
}

std::string counted(Index number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace

template <Algorithm A>
Alternatives<A>::Alternatives(Placement placement) : placement_(std::move(placement)) {
  expect_at_least("ranks", placement_.ranks, 1);
  expect_at_least("ranks per node", placement_.ranks_per_node, 1);
  const std::size_t listed = placement_.node_of_rank.size();
  if (listed != 0 && listed != static_cast<std::size_t>(placement_.ranks)) {
    throw ArgumentError(
        fmt::format("node_of_rank: of {} ranks, expected of none or of all {}", listed, placement_.ranks));
  }
  for (std::size_t i = 0; i < algorithms<A>; ++i) costs_.emplace_back(static_cast<A>(i), placement_);
}

template <Algorithm A>
Choice<A> choose(const Machine& machine, const Alternatives<A>& alternatives, Index bytes, const Wishes<A>& wishes) {
  expect_at_least("bytes", bytes, 0);
  if (wishes.strands) expect_at_least("strands", *wishes.strands, 1);
  if (wishes.segment_bytes) expect_at_least("segment bytes", *wishes.segment_bytes, 1);

  const Ways ways = ways_of(machine, alternatives.placement(), bytes, wishes);
  Choice<A> choice;
  for (std::size_t i = 0; i < algorithms<A>; ++i) {
    const auto algorithm = static_cast<A>(i);
    choice.candidates[i] = best_of(algorithm, machine, alternatives.of(algorithm), bytes, ways);
  }
  Candidate<A>& chosen = choice;
  if (wishes.algorithm) {
    chosen = choice.candidates[static_cast<std::size_t>(*wishes.algorithm)];
    return choice;
  }
  chosen.seconds = std::numeric_limits<double>::infinity();
  for (const Candidate<A>& candidate : choice.candidates) {
    if (candidate.algorithm != wishes.except && candidate.seconds < worth_a_change * chosen.seconds) chosen = candidate;
  }
  return choice;
}

template <Algorithm A>
std::string describe(const Choice<A>& choice, const Placement& placement, Index bytes) {
  const std::string text =
      fmt::format("{} of {} B on {} of {}: {}, {}, segments of {} B, {}", AlgorithmNames<A>::operation, bytes,
                  counted(placement.ranks, "rank"), counted(placement.nodes(), "node"), to_string(choice.algorithm),
                  counted(choice.strands, "strand"), choice.segment_bytes, seconds_text(choice.seconds));
  std::string others;
  for (const Candidate<A>& candidate : choice.candidates) {
    if (candidate.algorithm == choice.algorithm) continue;
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", to_string(candidate.algorithm),
                          seconds_text(candidate.seconds));
  }
  return text + fmt::format(" ({})", others);
}

#define PLAIT_CHOICE_OF(A)                                                                       \
  template class Alternatives<A>;                                                                \
  template Choice<A> choose<A>(const Machine&, const Alternatives<A>&, Index, const Wishes<A>&); \
  template std::string describe<A>(const Choice<A>&, const Placement&, Index)

PLAIT_CHOICE_OF(BroadcastAlgorithm);
PLAIT_CHOICE_OF(ReduceAlgorithm);
PLAIT_CHOICE_OF(AllreduceAlgorithm);
PLAIT_CHOICE_OF(AllGatherAlgorithm);
PLAIT_CHOICE_OF(ReduceScatterAlgorithm);
PLAIT_CHOICE_OF(AllToAllAlgorithm);

#undef PLAIT_CHOICE_OF

}  // namespace plait::model
