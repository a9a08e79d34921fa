#include "plait/report/overlap.hpp"

#include <algorithm>
#include <limits>

#include "plait/report/intervals.hpp"
#include "plait/report/messages.hpp"

namespace plait::report {

namespace {

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
