#include "plait/report/trace_json.hpp"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/report/overlap.hpp"

namespace plait::report {

namespace {

enum Track : int { asynchronous, compute, mpi_calls };
constexpr Nanoseconds adjacent = 1000;  // postings with less in between are drawn as one

// Labels are bytes; what is no ASCII is taken for Latin-1, so that the text is JSON whatever they are.
std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code >= 0x7f || c == '"' || c == '\\') {
      result += fmt::format("\\u{:04x}", code);
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string microseconds(Nanoseconds time) { return fmt::format("{}.{:03}", time / 1000, time % 1000); }

std::string counts(const std::array<Traffic, 3>& traffic) {
  std::string text = "{";
  for (const PeerClass peer : peer_classes) {
    const Traffic& counted = traffic[static_cast<std::size_t>(peer)];
    text += fmt::format("{}\"{}\":[{},{}]", text.size() > 1 ? "," : "", name(peer), counted.messages, counted.bytes);
  }
  return text + "}";
}

class Events {
 public:
  explicit Events(std::string& text) : text_(text) {}

  void name_of(int rank, int track, std::string_view what, std::string_view name) {
    begin();
    put(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})", rank, track, what, json_string(name));
  }

  void order_of(int rank) {
    begin();
    put(R"({{"ph":"M","pid":{0},"tid":0,"name":"process_sort_index","args":{{"sort_index":{0}}}}})", rank);
  }

  void complete(int rank, Track track, std::string_view name, Interval time, std::string_view args) {
    begin();
    put(R"({{"ph":"X","pid":{},"tid":{},"cat":"{}","name":"{}","ts":{},"dur":{},"args":{{{}}}}})", rank,
        static_cast<int>(track), name, name, microseconds(time.begin), microseconds(time.end - time.begin), args);
  }

  void asynchronous_pair(int rank, std::string_view category, std::string_view quoted_name, Interval time,
                         std::string_view args) {
    const std::string common = fmt::format(R"("pid":{},"tid":0,"id2":{{"local":"0x{:x}"}},"cat":"{}","name":{})", rank,
                                           ++last_id_, category, quoted_name);
    begin();
    put(R"({{"ph":"b",{},"ts":{},"args":{{{}}}}})", common, microseconds(time.begin), args);
    begin();
    put(R"({{"ph":"e",{},"ts":{}}})", common, microseconds(time.end));
  }

 private:
  void begin() { text_ += std::exchange(first_, false) ? "\n" : ",\n"; }
  template <class... T>
  void put(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
  }

  std::string& text_;
  bool first_ = true;
  Index last_id_ = 0;
};

class RankEvents {
 public:
  RankEvents(Events& events, int rank, const RankTrace& trace)
      : events_(events), rank_(rank), node_(trace.node), recording_(trace.recording) {}

  void put_all() {
    events_.name_of(rank_, asynchronous, "process_name", fmt::format("rank {} on node {}", rank_, node_));
    events_.order_of(rank_);
    events_.name_of(rank_, compute, "thread_name", "compute");
    events_.name_of(rank_, mpi_calls, "thread_name", "post and wait");
    for (const TimedRun& run : recording_.runs) put(run);
    for (std::size_t i = 0; i < recording_.operations.size(); ++i) put_operation(static_cast<Index>(i));
    for (const TimedWork& work : recording_.work) put(work);
    put_postings();
    for (const TimedWait& wait : recording_.waits) {
      events_.complete(rank_, mpi_calls, "wait", {wait.begin, wait.end},
                       fmt::format(R"("run":{})", run_of(wait.run).number));
    }
  }

 private:
  [[nodiscard]] const TimedRun& run_of(Index run) const { return recording_.runs[static_cast<std::size_t>(run)]; }

  // What all events of an operation tell of it.
  [[nodiscard]] std::string identity(Index index, const TimedOperation& op) const {
    return fmt::format(R"("run":{},"operation":{},"position":[{},{},{}],"eligible":{}{})", run_of(op.run).number, index,
                       op.position[0], op.position[1], op.position[2], microseconds(op.eligible),
                       op.failed ? R"(,"failed":true)" : "");
  }

  void put(const TimedRun& run) {
    events_.asynchronous_pair(rank_, "run", json_string(run.label), {run.begin, run.end},
                              fmt::format(R"("run":{},"repetition":{},"sent":{},"received":{})", run.number,
                                          run.repetition, counts(run.traffic.sent), counts(run.traffic.received)));
  }

  void put_operation(Index index) {
    const TimedOperation& op = recording_.operations[static_cast<std::size_t>(index)];
    if (is_work(op.kind) || op.ended == never) return;
    std::string title(name(op.kind));
    if (op.kind == OperationKind::send) title += fmt::format(" to {}", op.peer);
    if (op.kind == OperationKind::receive) title += fmt::format(" from {}", op.peer);
    std::string args = fmt::format(R"("kind":"{}",)", name(op.kind)) + identity(index, op);
    if (op.peer >= 0) args += fmt::format(R"(,"peer":{},"bytes":{})", op.peer, op.bytes);
    if (op.posted != never) args += fmt::format(R"(,"posted":{})", microseconds(op.posted));
    events_.asynchronous_pair(rank_, name(op.peer_class), json_string(title),
                              {op.posting != never ? op.posting : op.eligible, op.ended}, args);
  }

  void put(const TimedWork& work) {
    const TimedOperation& op = recording_.operations[static_cast<std::size_t>(work.operation)];
    if (op.ended == never) return;
    events_.complete(rank_, compute, name(op.kind), {work.begin, work.end},
                     identity(work.operation, op) + fmt::format(R"(,"ended":{})", microseconds(op.ended)));
  }

  // To be seen only: operations tell when they were posted.
  void put_postings() {
    std::vector<Interval> postings;
    for (const TimedOperation& op : recording_.operations) {
      if (op.posting != never && op.posted != never) postings.push_back({op.posting, op.posted + adjacent});
    }
    for (const Interval& time : united(std::move(postings))) {
      events_.complete(rank_, mpi_calls, "post", {time.begin, time.end - adjacent}, {});
    }
  }

  Events& events_;
  int rank_;
  int node_;
  const Recording& recording_;
};

}  // namespace

std::string chrome_json(const Trace& trace) {
  std::string nodes;
  std::string lost;
  for (const RankTrace& rank : trace.ranks) {
    const std::string_view separator = nodes.empty() ? "" : ",";
    nodes += fmt::format("{}{}", separator, rank.node);
    lost += fmt::format("{}{}", separator, rank.recording.lost);
  }
  std::string text = fmt::format(
      "{{\"otherData\":{{\"plait_trace\":{},\"nodes\":[{}],\"lost\":[{}],\"clock_error_us\":{},\"link_bits_per_"
      "second\":{}}},\n"
      "\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[",
      trace_format, nodes, lost, microseconds(trace.clock_error), trace.link_bits_per_second);
  Events events(text);
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    RankEvents(events, static_cast<int>(rank), trace.ranks[rank]).put_all();
  }
  return text + "\n]}\n";
}

}  // namespace plait::report
