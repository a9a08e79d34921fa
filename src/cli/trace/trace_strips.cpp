#include "cli/trace/trace_strips.hpp"

#include <algorithm>

#include "plait/report/messages.hpp"

namespace plait::cli {

namespace {

using report::Interval;

struct Communication {
  Interval posted;  // but not under way
  Interval under_way;
  Mark mark;
  int peer = -1;
  Index bytes = 0;

  [[nodiscard]] Nanoseconds begin() const { return std::min(posted.begin, under_way.begin); }
};

struct Communications {
  std::vector<Communication> outgoing;
  std::vector<Communication> incoming;
  std::vector<Communication> others;
};

Mark mark_of(PeerClass peer) {
  switch (peer) {
    case PeerClass::self: return Mark::self;
    case PeerClass::node: return Mark::node;
    case PeerClass::network: break;
  }
  return Mark::network;
}

Communication end_of(const report::Message& message, const TimedOperation& end, int peer) {
  const Interval under_way = message.under_way();
  return {{end.posting, under_way.begin}, under_way, mark_of(end.peer_class), peer, end.bytes};
}

// Each into the first lane that is free again, or into the last one.
std::vector<Strip> in_lanes(std::vector<Communication> communications, std::size_t most_lanes) {
  std::ranges::sort(communications, {}, &Communication::begin);
  std::vector<Strip> lanes;
  std::vector<Nanoseconds> free_from;
  for (const Communication& each : communications) {
    const auto free = std::ranges::find_if(free_from, [&](Nanoseconds time) { return time <= each.begin(); });
    auto lane = static_cast<std::size_t>(free - free_from.begin());
    if (lane == most_lanes) {
      --lane;
    } else if (lane == lanes.size()) {
      lanes.emplace_back();
      free_from.push_back(0);
    }
    free_from[lane] = std::max(free_from[lane], each.under_way.end);
    lanes[lane].of(Mark::posted).push_back(each.posted);
    lanes[lane].of(each.mark).push_back(each.under_way);
    if (each.peer >= 0) lanes[lane].messages.push_back({each.under_way, each.peer, each.bytes});
  }
  return lanes;
}

void add_own(const Recording& recording, RankStrips& strips, Communications& communications) {
  for (const TimedWork& work : recording.work) {
    const bool combines =
        recording.operations[static_cast<std::size_t>(work.operation)].kind == OperationKind::reduce_local;
    strips.work.of(combines ? Mark::combine : Mark::compute).push_back({work.begin, work.end});
  }
  for (const TimedWait& wait : recording.waits) strips.calls.of(Mark::wait).push_back({wait.begin, wait.end});
  for (const TimedOperation& op : recording.operations) {
    if (op.posting != never && op.posted != never) strips.calls.of(Mark::post).push_back({op.posting, op.posted});
    if (op.ended == never) continue;
    if (op.kind == OperationKind::request) {
      communications.others.push_back({{op.posting, op.posting}, {op.posting, op.ended}, mark_of(op.peer_class)});
    } else if (op.kind == OperationKind::await) {
      communications.others.push_back({{op.eligible, op.ended}, {op.ended, op.ended}, mark_of(op.peer_class)});
    }
  }
}

}  // namespace

std::vector<RankStrips> strips_of(const report::Trace& trace, std::size_t most_lanes) {
  std::vector<RankStrips> result(trace.ranks.size());
  std::vector<Communications> communications(trace.ranks.size());
  for (const report::Message& message : report::messages_of(trace)) {
    const auto from = static_cast<std::size_t>(message.from);
    const auto to = static_cast<std::size_t>(message.to);
    if (message.send != nullptr) communications[from].outgoing.push_back(end_of(message, *message.send, message.to));
    if (message.receive != nullptr)
      communications[to].incoming.push_back(end_of(message, *message.receive, message.from));
  }
  for (std::size_t rank = 0; rank < result.size(); ++rank) {
    add_own(trace.ranks[rank].recording, result[rank], communications[rank]);
    result[rank].outgoing = in_lanes(std::move(communications[rank].outgoing), most_lanes);
    result[rank].incoming = in_lanes(std::move(communications[rank].incoming), most_lanes);
    result[rank].others = in_lanes(std::move(communications[rank].others), most_lanes);
  }
  return result;
}

}  // namespace plait::cli
