#include "plait/model/path.hpp"

#include <algorithm>

#include "plait/base/contract.hpp"

namespace plait::model {

/// A message between two ranks, cut into segments.
struct Path::Message {
  double latency_seconds = 0;
  double segment_seconds = 0;  // the link is occupied by the first one
  double seconds = 0;          // by all
};

Path::Message Path::message(const Link& link, Pattern pattern, Index bytes, Index ranks) const {
  const Streams& streams = link.streams_of(static_cast<int>(ranks));
  const BandwidthCurve& curve = pattern == Pattern::tree ? streams.one_way : streams.both_ways;
  const auto shared_by = static_cast<double>(ranks);
  const Index whole = bytes / segment_bytes_;
  const Index rest = bytes % segment_bytes_;
  double all = static_cast<double>(whole) * curve.seconds(segment_bytes_);
  if (rest > 0) all += curve.seconds(rest);
  return {link.latency_seconds, shared_by * curve.seconds(std::min(bytes, segment_bytes_)), shared_by * all};
}

void Path::add(const Step& step, int times) {
  PLAIT_ASSERT(step.bytes >= 0 && step.distance >= 1 && times >= 0, "a step moves something somewhere");
  if (step.bytes == 0 || times == 0) return;
  const Index per_node = std::min(placement_.ranks, placement_.ranks_per_node);
  const bool one_node = placement_.nodes() == 1;

  // Of the ranks of a node, so many talk to other nodes, and so many within.
  Index outward = 0;
  Index inward = 0;
  switch (step.pattern) {
    case Pattern::tree:
      outward = !one_node && step.distance >= per_node ? 1 : 0;
      inward = outward == 1 ? 0 : std::max<Index>(1, per_node / (2 * step.distance));
      break;
    case Pattern::exchange:
      outward = !one_node && step.distance >= per_node ? per_node : 0;
      inward = per_node - outward;
      break;
    case Pattern::shift:
      outward = one_node ? 0 : std::min(step.distance, per_node);
      inward = per_node - outward;
      break;
  }
  const Message none;
  const Message far = outward > 0 ? message(machine_.network, step.pattern, step.bytes, outward) : none;
  const Message near = inward > 0 ? message(machine_.node, step.pattern, step.bytes, inward) : none;

  const double rate = machine_.combine_bytes_per_second;
  const Index first_bytes = std::min(step.bytes, segment_bytes_);
  const double combining = step.combines ? static_cast<double>(step.bytes) / rate : 0;
  const double combining_first = step.combines ? static_cast<double>(first_bytes) / rate : 0;
  const double occupied = std::max(far.seconds, near.seconds);
  const double occupied_first = std::max(far.segment_seconds, near.segment_seconds);
  const double first = std::max(far.latency_seconds, near.latency_seconds) + occupied_first + combining_first;

  const double advance = std::max({first, occupied, combining});
  const double alone = first + std::max(occupied - occupied_first, combining - combining_first);
  cost_.first_seconds += times * advance;
  cost_.network_seconds += times * far.seconds;
  cost_.core_seconds += times * (near.seconds + combining);
  last_segments_seconds_ = alone - advance;
}

void Path::add_chain(Index bytes, bool combines) {
  PLAIT_ASSERT(bytes >= 0, "a chain moves something");
  if (bytes == 0 || placement_.ranks == 1) return;
  const int far_hops = placement_.nodes() - 1;
  const int near_hops = placement_.ranks - 1 - far_hops;
  const Index per_node = std::min(placement_.ranks, placement_.ranks_per_node);
  const Message none;
  const Message far = far_hops > 0 ? message(machine_.network, Pattern::shift, bytes, 1) : none;
  const Message near =
      near_hops > 0 ? message(machine_.node, Pattern::shift, bytes, std::max<Index>(1, per_node - 1)) : none;

  const double rate = machine_.combine_bytes_per_second;
  const double combining = combines ? static_cast<double>(bytes) / rate : 0;
  const double combining_first = combines ? static_cast<double>(std::min(bytes, segment_bytes_)) / rate : 0;
  const double through = far_hops * (far.latency_seconds + far.segment_seconds) +
                         near_hops * (near.latency_seconds + near.segment_seconds) +
                         (placement_.ranks - 1) * combining_first;
  const double rest =
      std::max({far.seconds - far.segment_seconds, near.seconds - near.segment_seconds, combining - combining_first});
  cost_.first_seconds += through;
  cost_.network_seconds += far.seconds;
  cost_.core_seconds += near.seconds + combining;
  last_segments_seconds_ = rest;
}

}  // namespace plait::model
