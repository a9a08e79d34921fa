#include "plait/model/path.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/index.hpp"
#include "plait/base/rounding.hpp"

namespace plait::model {

namespace {

// How many messages each node sends and receives over the network, and moves inside.
struct OfNode {
  Index out = 0;
  Index in = 0;
  Index inside = 0;
};

// Of several chains the one with most hops between nodes, which takes longest.
void count_hops(Step& step, const Round& round, const Placement& placement) {
  int far = 0;
  int near = 0;
  for (std::size_t i = 0; i < round.hops.size(); ++i) {
    const Hop& hop = round.hops[i];
    if (i > 0 && hop.from != round.hops[i - 1].to) far = near = 0;  // another chain
    ++(placement.node_of(hop.from) == placement.node_of(hop.to) ? near : far);
    if (std::pair(far, near) > std::pair(step.network.hops, step.node.hops)) {
      step.network.hops = far;
      step.node.hops = near;
    }
  }
}

Step step_of(const Round& round, const Placement& placement) {
  Step step{.network = {},
            .node = {},
            .parts = round.parts,
            .combines = round.combines,
            .times = round.times,
            .is_chain = round.is_chain};
  std::vector<OfNode> nodes(at(placement.nodes()));
  std::vector<bool> sends_inside(at(placement.ranks), false);
  for (const Hop& hop : round.hops) {
    const int from = placement.node_of(hop.from);
    const int to = placement.node_of(hop.to);
    Load& load = from == to ? step.node : step.network;
    load.parts = std::max(load.parts, hop.parts);
    if (from == to) {
      ++nodes[at(from)].inside;
      sends_inside[at(hop.from)] = true;
    } else {
      ++nodes[at(from)].out;
      ++nodes[at(to)].in;
    }
  }
  for (const OfNode& node : nodes) {
    step.network.messages = std::max({step.network.messages, node.out, node.in});
    step.network.both_ways = step.network.both_ways || (node.out > 0 && node.in > 0);
    step.node.messages = std::max(step.node.messages, node.inside);
  }
  step.node.both_ways = std::ranges::any_of(round.hops, [&](const Hop& hop) {
    return placement.node_of(hop.from) == placement.node_of(hop.to) && sends_inside[at(hop.to)];
  });
  if (round.is_chain) count_hops(step, round, placement);
  return step;
}

Index bytes_of(const Load& load, Index parts, Index vector_bytes) {
  return quotient_up(vector_bytes * load.parts, parts);
}

}  // namespace

std::vector<Step> steps_of(std::span<const Round> rounds, const Placement& placement) {
  std::vector<Step> steps;
  steps.reserve(rounds.size());
  for (const Round& round : rounds) steps.push_back(step_of(round, placement));
  return steps;
}

/// A message between two ranks, cut into segments.
struct Path::Message {
  double latency_seconds = 0;
  double segment_seconds = 0;  // the link is occupied by the first one
  double seconds = 0;          // by all
};

Path::Message Path::message(const Link& link, const Load& load, Index bytes) const {
  if (load.messages == 0) return {};
  const Streams& streams = link.streams_of(static_cast<int>(load.messages));
  const BandwidthCurve& curve = load.both_ways ? streams.both_ways : streams.one_way;
  const auto shared_by = static_cast<double>(load.messages);
  const Index whole = bytes / segment_bytes_;
  const Index rest = bytes % segment_bytes_;
  double all = static_cast<double>(whole) * curve.seconds(segment_bytes_);
  if (rest > 0) all += curve.seconds(rest);
  return {link.latency_seconds, shared_by * curve.seconds(std::min(bytes, segment_bytes_)), shared_by * all};
}

void Path::add(const Step& step, Index vector_bytes) {
  PLAIT_ASSERT(vector_bytes >= 0 && step.parts >= 1 && step.times >= 0, "a step moves something");
  if (vector_bytes == 0 || step.times == 0) return;
  const Index far_bytes = bytes_of(step.network, step.parts, vector_bytes);
  const Index near_bytes = bytes_of(step.node, step.parts, vector_bytes);
  const Index bytes = std::max(far_bytes, near_bytes);
  const Message far = message(machine_.network, step.network, far_bytes);
  const Message near = message(machine_.node, step.node, near_bytes);
  if (step.is_chain) return add_chain(step, far, near, bytes);

  const double rate = machine_.combine_bytes_per_second;
  const Index first_bytes = std::min(bytes, segment_bytes_);
  const double combining = step.combines ? static_cast<double>(bytes) / rate : 0;
  const double combining_first = step.combines ? static_cast<double>(first_bytes) / rate : 0;
  const double occupied = std::max(far.seconds, near.seconds);
  const double occupied_first = std::max(far.segment_seconds, near.segment_seconds);
  const double first = std::max(far.latency_seconds, near.latency_seconds) + occupied_first + combining_first;

  const double advance = std::max({first, occupied, combining});
  const double alone = first + std::max(occupied - occupied_first, combining - combining_first);
  cost_.first_seconds += step.times * advance;
  cost_.network_seconds += step.times * far.seconds;
  cost_.core_seconds += step.times * (near.seconds + combining);
  last_segments_seconds_ = alone - advance;
}

// A segment passes one hop after the other, and the next one follows as soon as the busiest of all lets it.
void Path::add_chain(const Step& step, const Message& far, const Message& near, Index bytes) {
  const double rate = machine_.combine_bytes_per_second;
  const double combining = step.combines ? static_cast<double>(bytes) / rate : 0;
  const double combining_first = step.combines ? static_cast<double>(std::min(bytes, segment_bytes_)) / rate : 0;
  const double through = step.network.hops * (far.latency_seconds + far.segment_seconds) +
                         step.node.hops * (near.latency_seconds + near.segment_seconds) +
                         (step.network.hops + step.node.hops) * combining_first;
  const double rest =
      std::max({far.seconds - far.segment_seconds, near.seconds - near.segment_seconds, combining - combining_first});
  cost_.first_seconds += through;
  cost_.network_seconds += far.seconds;
  cost_.core_seconds += near.seconds + combining;
  last_segments_seconds_ = rest;
}

}  // namespace plait::model
