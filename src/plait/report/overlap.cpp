#include "plait/report/overlap.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

namespace plait::report {

namespace {

struct Channel {
  Index run;
  int from;
  int to;
  std::array<Index, 3> position;
  friend auto operator<=>(const Channel&, const Channel&) = default;
};

struct Ends {
  std::vector<const TimedOperation*> sends;
  std::vector<const TimedOperation*> receives;
};

const TimedOperation* at(const std::vector<const TimedOperation*>& operations, std::size_t index) {
  return index < operations.size() ? operations[index] : nullptr;
}

using Times = std::vector<Interval>;

RankOverlap of_rank(const Recording& recording, Times communication) {
  RankOverlap result;
  Times running;
  Times computing;
  for (const TimedRun& run : recording.runs) {
    running.push_back({run.begin, run.end});
    for (const PeerClass peer : peer_classes) {
      result.traffic.sent_to(peer) += run.traffic.sent_to(peer);
      result.traffic.received_from(peer) += run.traffic.received_from(peer);
    }
  }
  for (const TimedWork& work : recording.work) computing.push_back({work.begin, work.end});
  for (const TimedWait& wait : recording.waits) result.waiting += wait.end - wait.begin;
  for (const TimedOperation& op : recording.operations) {
    if (op.posting != never && op.posted != never) result.posting += op.posted - op.posting;
    if (op.kind == OperationKind::request && op.ended != never) communication.push_back({op.posting, op.ended});
  }
  computing = united(std::move(computing));
  communication = united(std::move(communication));
  result.running = length(united(std::move(running)));
  result.computing = length(computing);
  result.under_way = length(communication);
  result.hidden = length(common(computing, communication));
  return result;
}

}  // namespace

std::vector<Interval> united(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::begin);
  std::vector<Interval> result;
  for (const Interval& next : intervals) {
    if (next.end <= next.begin) continue;
    if (!result.empty() && next.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, next.end);
    } else {
      result.push_back(next);
    }
  }
  return result;
}

std::vector<Interval> common(std::span<const Interval> a, std::span<const Interval> b) {
  std::vector<Interval> result;
  while (!a.empty() && !b.empty()) {
    const Interval both{std::max(a.front().begin, b.front().begin), std::min(a.front().end, b.front().end)};
    if (both.begin < both.end) result.push_back(both);
    auto& first_over = a.front().end < b.front().end ? a : b;
    first_over = first_over.subspan(1);
  }
  return result;
}

Nanoseconds length(std::span<const Interval> disjoint) noexcept {
  Nanoseconds sum = 0;
  for (const Interval& interval : disjoint) sum += interval.end - interval.begin;
  return sum;
}

Interval Message::under_way() const noexcept {
  if (send == nullptr) return {receive->posting, receive->ended};
  if (receive == nullptr) return {send->posting, send->ended};
  return {std::max(send->posting, receive->posting), receive->ended};
}

Interval Message::on_its_way() const noexcept {
  return send != nullptr && receive != nullptr ? Interval{send->posting, receive->ended} : under_way();
}

std::vector<Message> messages_of(const Trace& trace) {
  std::map<Channel, Ends> channels;
  for (int rank = 0; rank < static_cast<int>(trace.ranks.size()); ++rank) {
    const Recording& recording = trace.ranks[static_cast<std::size_t>(rank)].recording;
    for (const TimedOperation& op : recording.operations) {
      if (op.ended == never) continue;
      const Index run = recording.runs[static_cast<std::size_t>(op.run)].number;
      if (op.kind == OperationKind::send) channels[{run, rank, op.peer, op.position}].sends.push_back(&op);
      if (op.kind == OperationKind::receive) channels[{run, op.peer, rank, op.position}].receives.push_back(&op);
    }
  }
  std::vector<Message> messages;
  for (const auto& [channel, ends] : channels) {
    for (std::size_t i = 0; i < std::max(ends.sends.size(), ends.receives.size()); ++i) {
      messages.push_back({channel.from, channel.to, at(ends.sends, i), at(ends.receives, i)});
    }
  }
  return messages;
}

double Overlap::hidden_share() const noexcept {
  const RankOverlap all = sum();
  return all.under_way > 0 ? static_cast<double>(all.hidden) / static_cast<double>(all.under_way) : 0;
}

RankOverlap Overlap::sum() const noexcept {
  RankOverlap all;
  for (const RankOverlap& rank : ranks) {
    all.running += rank.running;
    all.computing += rank.computing;
    all.posting += rank.posting;
    all.waiting += rank.waiting;
    all.under_way += rank.under_way;
    all.hidden += rank.hidden;
    for (const PeerClass peer : peer_classes) {
      all.traffic.sent_to(peer) += rank.traffic.sent_to(peer);
      all.traffic.received_from(peer) += rank.traffic.received_from(peer);
    }
  }
  return all;
}

Overlap overlap_of(const Trace& trace) {
  std::vector<Times> communication(trace.ranks.size());
  int nodes = 0;
  for (const RankTrace& rank : trace.ranks) nodes = std::max(nodes, rank.node + 1);
  Overlap result;
  result.links.resize(static_cast<std::size_t>(nodes));
  std::vector<std::array<Times, 2>> on_link(static_cast<std::size_t>(nodes));

  for (const Message& message : messages_of(trace)) {
    const Index bytes = (message.send != nullptr ? message.send : message.receive)->bytes;
    if (message.from == message.to || bytes == 0) continue;
    const Interval under_way = message.under_way();
    if (message.send != nullptr) communication[static_cast<std::size_t>(message.from)].push_back(under_way);
    if (message.receive != nullptr) communication[static_cast<std::size_t>(message.to)].push_back(under_way);
    const std::array<int, 2> node{trace.ranks[static_cast<std::size_t>(message.from)].node,
                                  trace.ranks[static_cast<std::size_t>(message.to)].node};
    if (node[0] == node[1]) continue;
    for (std::size_t end = 0; end < 2; ++end) {
      const auto n = static_cast<std::size_t>(node[end]);
      result.links[n].bytes[end] += bytes;
      on_link[n][end].push_back(message.on_its_way());
    }
  }
  for (std::size_t n = 0; n < result.links.size(); ++n) {
    for (std::size_t end = 0; end < 2; ++end) result.links[n].busy[end] = length(united(std::move(on_link[n][end])));
  }

  Interval all{std::numeric_limits<Nanoseconds>::max(), 0};
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const Recording& recording = trace.ranks[rank].recording;
    result.ranks.push_back(of_rank(recording, std::move(communication[rank])));
    for (const TimedRun& run : recording.runs) all = {std::min(all.begin, run.begin), std::max(all.end, run.end)};
  }
  result.span = std::max(Nanoseconds{0}, all.end - all.begin);
  return result;
}

double achieved_share(const LinkUse& link, double bits_per_second) noexcept {
  double most = 0;
  for (std::size_t end = 0; end < 2; ++end) {
    if (link.busy[end] == 0 || bits_per_second <= 0) continue;
    most = std::max(most,
                    static_cast<double>(link.bytes[end]) * 8e9 / static_cast<double>(link.busy[end]) / bits_per_second);
  }
  return most;
}

}  // namespace plait::report
