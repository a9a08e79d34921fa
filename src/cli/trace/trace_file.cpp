#include "cli/trace/trace_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plait/base/error.hpp"
#include "plait/base/timeline.hpp"
#include "plait/io/file.hpp"
#include "plait/io/text/text_file.hpp"
#include "plait/report/trace_json.hpp"

namespace plait::cli {

using nlohmann::json;

namespace {

/// An object in the file of a trace. What it should have and has not is a FileError that tells where. What it is made
/// from outlives it.
class TraceFields {
 public:
  TraceFields(const json& object, const std::string& path, std::string where)
      : object_(object), path_(path), where_(std::move(where)) {
    if (!object_.is_object()) fail("is no object");
  }

  /// \throws FileError  "PATH: WHERE what"
  [[noreturn]] void fail(std::string_view what) const {
    throw FileError(fmt::format("{}: {} {}", path_, where_, what));
  }

  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }
  [[nodiscard]] const json& value(const char* key) const {
    if (!has(key)) fail(fmt::format("has no {}", key));
    return object_[key];
  }
  [[nodiscard]] TraceFields inner(const char* key) const { return {value(key), path_, where_ + " " + key}; }
  [[nodiscard]] std::string text(const char* key) const {
    if (!value(key).is_string()) fail(fmt::format("has a {} that is no text", key));
    return value(key).get<std::string>();
  }
  /// Whole numbers from 0 to `most`.
  [[nodiscard]] Index whole(const char* key, Index most = most_whole) const { return whole(value(key), key, most); }
  [[nodiscard]] std::vector<Index> wholes(const char* key) const {
    if (!value(key).is_array()) fail(fmt::format("has a {} that is no array", key));
    std::vector<Index> numbers;
    for (const json& number : value(key)) numbers.push_back(whole(number, key, most_whole));
    return numbers;
  }
  /// [stage, strand, segment]
  [[nodiscard]] std::array<Index, 3> position() const {
    const json& numbers = value("position");
    const bool is_fit = numbers.is_array() && numbers.size() == 3 &&
                        std::ranges::all_of(numbers, [](const json& each) { return each.is_number_integer(); });
    if (!is_fit) fail("has a position that is not [stage, strand, segment]");
    return {numbers[0].get<Index>(), numbers[1].get<Index>(), numbers[2].get<Index>()};
  }
  /// A number that is not negative.
  [[nodiscard]] double number(const char* key) const {
    constexpr double most = 1e15;
    const json& number = value(key);
    const bool is_fit = number.is_number() && number.get<double>() >= 0 && number.get<double>() <= most;
    if (!is_fit) fail(fmt::format("has a {} that is no number from 0 to {}", key, most));
    return number.get<double>();
  }
  /// A time that is written in microseconds.
  [[nodiscard]] Nanoseconds time(const char* key) const { return std::llround(number(key) * 1e3); }

 private:
  static constexpr Index most_whole = Index{1} << 62;

  [[nodiscard]] Index whole(const json& number, const char* key, Index most) const {
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
      fail(fmt::format("has a {} that is no whole number from 0 to {}", key, most));
    }
    return number.get<Index>();
  }

  const json& object_;
  const std::string& path_;
  std::string where_;
};

/// One rank's events: runs and operations by the numbers that they have in the file.
struct RankEvents {
  struct Begun {
    std::string category;
    std::string name;
    Nanoseconds begin = 0;
    json args;
  };
  std::map<std::string, Begun> open;  // asynchronous events that began, by id
  std::map<Index, TimedRun> runs;
  std::map<Index, TimedOperation> operations;
  std::vector<TimedWork> work;
  std::vector<TimedWait> waits;
};

Traffic traffic_of(const TraceFields& counts, PeerClass peer) {
  const std::string key(name(peer));
  const auto numbers = counts.wholes(key.c_str());
  if (numbers.size() != 2) counts.fail(fmt::format("has a {} that is not [messages, bytes]", key));
  return {numbers[0], numbers[1]};
}

template <class Names>
std::optional<std::size_t> place_of(std::string_view word, const Names& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == word) return i;
  }
  return std::nullopt;
}

class TraceReader {
 public:
  explicit TraceReader(const std::string& path) : path_(path) {}

  void head(const json& other_data) {
    const TraceFields fields(other_data, path_, "otherData");
    if (!fields.has("plait_trace")) fail_foreign();
    if (const Index format = fields.whole("plait_trace"); format != report::trace_format) {
      throw FileError(fmt::format("{}: is a trace of format {}, expected {}: another version of plait wrote it", path_,
                                  format, report::trace_format));
    }
    const std::vector<Index> nodes = fields.wholes("nodes");
    const std::vector<Index> lost = fields.wholes("lost");
    if (nodes.empty() || lost.size() != nodes.size()) fields.fail("has no nodes and lost of as many ranks");
    events_.resize(nodes.size());
    trace_.ranks.resize(nodes.size());
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      if (nodes[rank] >= static_cast<Index>(nodes.size())) fields.fail("has more nodes than ranks");
      trace_.ranks[rank].node = static_cast<int>(nodes[rank]);
      trace_.ranks[rank].recording.lost = lost[rank];
    }
    trace_.clock_error = fields.time("clock_error_us");
    trace_.link_bits_per_second = fields.number("link_bits_per_second");
    has_head_ = true;
  }

  void event(const json& event) {
    if (!has_head_) fail_foreign();
    const TraceFields fields(event, path_, fmt::format("traceEvents[{}]", next_event_++));
    const std::string phase = fields.text("ph");
    if (phase == "M") return;
    RankEvents& rank = events_[static_cast<std::size_t>(fields.whole("pid", static_cast<Index>(events_.size()) - 1))];
    if (phase == "X") {
      complete(rank, fields);
    } else if (phase == "b") {
      const bool is_new = rank.open
                              .try_emplace(fields.inner("id2").text("local"),
                                           RankEvents::Begun{fields.text("cat"), fields.text("name"), fields.time("ts"),
                                                             fields.value("args")})
                              .second;
      if (!is_new) fields.fail("begins what has begun");
    } else if (phase == "e") {
      asynchronous(rank, fields);
    } else {
      fields.fail(fmt::format("has the ph {}, expected one of plait's: M, X, b or e", phase));
    }
  }

  [[nodiscard]] report::Trace finish() {
    if (!has_head_) fail_foreign();
    for (std::size_t rank = 0; rank < events_.size(); ++rank) {
      if (!events_[rank].open.empty())
        fail_of(rank, fmt::format("{} never ends", events_[rank].open.begin()->second.name));
      put_together(rank);
    }
    return std::move(trace_);
  }

  [[noreturn]] void fail_foreign() const {
    throw FileError(path_ + ": is no trace of plait: it does not begin with otherData that holds plait_trace");
  }

 private:
  [[noreturn]] void fail_of(std::size_t rank, std::string_view what) const {
    throw FileError(fmt::format("{}: rank {}: {}", path_, rank, what));
  }

  void complete(RankEvents& rank, const TraceFields& fields) const {
    const std::string category = fields.text("cat");
    if (category == "post") return;  // operations tell it themselves
    const Nanoseconds begin = fields.time("ts");
    const Nanoseconds end = begin + fields.time("dur");
    const TraceFields args = fields.inner("args");
    if (category == "wait") {
      rank.waits.push_back({args.whole("run"), begin, end});
      return;
    }
    const auto kind = place_of(category, operation_kind_names);
    if (!kind || !is_work(OperationKind{static_cast<unsigned char>(*kind)})) {
      fields.fail(fmt::format("has the cat {}, expected compute, reduce_local, post or wait", category));
    }
    TimedOperation op = operation(args, OperationKind{static_cast<unsigned char>(*kind)});
    op.ended = args.time("ended");
    const Index number = args.whole("operation");
    const auto& known = rank.operations.try_emplace(number, op).first->second;
    if (known != op) fields.fail("tells of its operation what another event does not");
    rank.work.push_back({number, begin, end});
  }

  void asynchronous(RankEvents& rank, const TraceFields& fields) const {
    const auto entry = rank.open.find(fields.inner("id2").text("local"));
    if (entry == rank.open.end()) fields.fail("ends what has not begun");
    const RankEvents::Begun begun = std::move(entry->second);
    rank.open.erase(entry);
    const Nanoseconds end = fields.time("ts");
    if (end < begun.begin) fields.fail("ends before it begins");
    const TraceFields args(begun.args, path_, fmt::format("{} at {} us: args", begun.name, begun.begin / 1000));
    if (begun.category == "run") {
      run(rank, begun, end, args);
      return;
    }
    const auto peer_class =
        place_of(begun.category, std::array{name(PeerClass::self), name(PeerClass::node), name(PeerClass::network)});
    const auto kind = place_of(args.text("kind"), operation_kind_names);
    if (!peer_class || !kind || is_work(OperationKind{static_cast<unsigned char>(*kind)})) {
      args.fail("tell of no communication");
    }
    TimedOperation op = operation(args, OperationKind{static_cast<unsigned char>(*kind)});
    op.peer_class = PeerClass{static_cast<unsigned char>(*peer_class)};
    op.ended = end;
    if (op.kind == OperationKind::send || op.kind == OperationKind::receive) {
      op.peer = static_cast<int>(args.whole("peer", static_cast<Index>(events_.size()) - 1));
      op.bytes = args.whole("bytes");
    }
    if (op.kind != OperationKind::signal && op.kind != OperationKind::await) {
      op.posting = begun.begin;
      op.posted = args.time("posted");
    }
    if (!rank.operations.try_emplace(args.whole("operation"), op).second) args.fail("name an operation twice");
  }

  static TimedOperation operation(const TraceFields& args, OperationKind kind) {
    return {.run = args.whole("run"),
            .kind = kind,
            .failed = args.has("failed"),
            .position = args.position(),
            .eligible = args.time("eligible")};
  }

  static void run(RankEvents& rank, const RankEvents::Begun& begun, Nanoseconds end, const TraceFields& args) {
    TimedRun run{begun.name, args.whole("run"), args.whole("repetition"), begun.begin, end, {}};
    const TraceFields sent = args.inner("sent");
    const TraceFields received = args.inner("received");
    for (const PeerClass peer : peer_classes) {
      run.traffic.sent_to(peer) = traffic_of(sent, peer);
      run.traffic.received_from(peer) = traffic_of(received, peer);
    }
    if (!rank.runs.try_emplace(run.number, run).second) args.fail("name a run twice");
  }

  // From numbers in the file to indices.
  void put_together(std::size_t rank) {
    RankEvents& events = events_[rank];
    Recording& recording = trace_.ranks[rank].recording;
    std::map<Index, Index> index_of_run;
    std::map<Index, Index> index_of_operation;
    for (auto& [number, run] : events.runs) {
      index_of_run[number] = static_cast<Index>(recording.runs.size());
      recording.runs.push_back(std::move(run));
    }
    const auto run_index = [&](Index number) {
      const auto run = index_of_run.find(number);
      if (run == index_of_run.end())
        fail_of(rank, fmt::format("an event names the run {}, which is not there", number));
      return run->second;
    };
    for (auto& [number, op] : events.operations) {
      index_of_operation[number] = static_cast<Index>(recording.operations.size());
      op.run = run_index(op.run);
      recording.operations.push_back(op);
    }
    for (TimedWork& work : events.work) work.operation = index_of_operation[work.operation];
    for (TimedWait& wait : events.waits) wait.run = run_index(wait.run);
    recording.work = std::move(events.work);
    recording.waits = std::move(events.waits);
    events = {};
  }

  const std::string& path_;
  report::Trace trace_;
  std::vector<RankEvents> events_;
  Index next_event_ = 0;
  bool has_head_ = false;
};

}  // namespace

// Event by event: all of them together would take many times the memory of the file.
report::Trace parse_trace(std::string_view text, const std::string& path) {
  TraceReader reader(path);
  std::string part;  // of the file: the key that its outermost object is at
  const auto look = [&](int depth, json::parse_event_t event, const json& parsed) {
    if (depth == 0 && event == json::parse_event_t::array_start) reader.fail_foreign();
    if (depth == 1 && event == json::parse_event_t::key) part = parsed.get<std::string>();
    if (depth == 1 && event == json::parse_event_t::object_end && part == "otherData") reader.head(parsed);
    if (depth == 2 && event == json::parse_event_t::object_end && part == "traceEvents") {
      reader.event(parsed);
      return false;
    }
    return true;
  };
  try {
    const json rest = json::parse(text, look);
    if (!rest.is_object()) reader.fail_foreign();
  } catch (const json::exception& error) {  // numbers beyond their range are of another kind than syntax
    throw FileError(fmt::format("{}: is no JSON, or truncated: {}", path, io::complaint_of(error)));
  }
  return reader.finish();
}

report::Trace read_trace_file(const std::string& path) {
  const io::File file = io::File::open_to_read(path);
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  const Index bytes = file.read_at(0, std::as_writable_bytes(std::span(text)));
  text.resize(static_cast<std::size_t>(bytes));
  return parse_trace(text, path);
}

}  // namespace plait::cli
