#include "plait/report/messages.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

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

}  // namespace

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

}  // namespace plait::report
