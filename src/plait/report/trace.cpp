#include "plait/report/trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <type_traits>

#include "plait/base/contract.hpp"
#include "plait/base/error.hpp"
#include "plait/mpi/agreed.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/message.hpp"

namespace plait::report {

namespace {

constexpr int clock_tag = 1;  // of plait's control messages
constexpr int round_trips = 40;

class Writer {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(std::span<const T> values) {
    const auto count = static_cast<Index>(values.size());
    append(std::as_bytes(std::span(&count, 1)));
    append(std::as_bytes(values));
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class Container>
  [[nodiscard]] Container get() {
    using T = typename Container::value_type;
    Index count = 0;
    take(&count, sizeof(count));
    Container values(static_cast<std::size_t>(count), T{});
    take(values.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  void take(void* to, std::size_t bytes) {
    PLAIT_ASSERT(bytes <= rest_.size(), "a recording comes as it was sent");
    if (bytes > 0) std::memcpy(to, rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
  }
  std::span<const std::byte> rest_;
};

/// All of a run but its label, which goes beside it.
struct Unlabelled {
  Index number, repetition;
  Nanoseconds begin, end;
  TrafficCounters traffic;
};

void expect_between_runs(mpi::Context& context) {
  mpi::agreed(context, [&] {
    const int open = context.timeline().open_runs();
    if (open == 0) return;
    throw ArgumentError("tracing: " + std::to_string(open) + (open == 1 ? " run" : " runs") +
                        " under way, expected that all runs which are recorded were waited for");
  });
}

/// Calls `f` with every time that there is.
template <class F>
void for_each_time(Recording& recording, F f) {
  const auto known = [&f](Nanoseconds& time) {
    if (time != never) f(time);
  };
  for (TimedRun& run : recording.runs) known(run.begin), known(run.end);
  for (TimedOperation& op : recording.operations)
    known(op.eligible), known(op.posting), known(op.posted), known(op.ended);
  for (TimedWork& work : recording.work) known(work.begin), known(work.end);
  for (TimedWait& wait : recording.waits) known(wait.begin), known(wait.end);
}

void begin_at_zero(Trace& trace) {
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  for (const RankTrace& rank : trace.ranks) {
    for (const TimedRun& run : rank.recording.runs) first = std::min(first, run.begin);
  }
  if (first == std::numeric_limits<Nanoseconds>::max()) return;  // no runs
  trace.origin += first;
  for (RankTrace& rank : trace.ranks) {
    for_each_time(rank.recording, [first](Nanoseconds& time) { time -= first; });
  }
}

/// What a recording has of the runs of certain numbers.
Recording part_of_rank(const Recording& whole, const std::set<Index>& numbers) {
  Recording part;
  part.lost = whole.lost;
  std::vector<Index> new_run(whole.runs.size(), -1);
  for (std::size_t run = 0; run < whole.runs.size(); ++run) {
    if (!numbers.contains(whole.runs[run].number)) continue;
    new_run[run] = static_cast<Index>(part.runs.size());
    part.runs.push_back(whole.runs[run]);
  }
  std::vector<Index> new_operation(whole.operations.size(), -1);
  for (std::size_t op = 0; op < whole.operations.size(); ++op) {
    const Index run = new_run[static_cast<std::size_t>(whole.operations[op].run)];
    if (run < 0) continue;
    new_operation[op] = static_cast<Index>(part.operations.size());
    part.operations.push_back(whole.operations[op]);
    part.operations.back().run = run;
  }
  for (TimedWork work : whole.work) {
    work.operation = new_operation[static_cast<std::size_t>(work.operation)];
    if (work.operation >= 0) part.work.push_back(work);
  }
  for (TimedWait wait : whole.waits) {
    wait.run = new_run[static_cast<std::size_t>(wait.run)];
    if (wait.run >= 0) part.waits.push_back(wait);
  }
  return part;
}

}  // namespace

ClockSample compare_clocks(const mpi::Communicator& comm, int here, int there, const Clock& clock) {
  std::array<Nanoseconds, 1> theirs{};
  const std::span<Nanoseconds> message(theirs);
  if (comm.rank() == there) {
    for (int trip = 0; trip < round_trips; ++trip) {
      mpi::receive(comm, message, here, clock_tag);
      theirs[0] = clock();
      mpi::send(comm, std::span<const Nanoseconds>(message), here, clock_tag);
    }
    return {};
  }
  Nanoseconds lowest = std::numeric_limits<Nanoseconds>::min();
  Nanoseconds highest = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds end = 0;
  for (int trip = 0; trip < round_trips; ++trip) {
    const Nanoseconds begin = clock();
    mpi::send(comm, std::span<const Nanoseconds>(message), there, clock_tag);
    mpi::receive(comm, message, there, clock_tag);
    end = clock();
    lowest = std::max(lowest, theirs[0] - end);
    highest = std::min(highest, theirs[0] - begin);
  }
  return {end, lowest + (highest - lowest) / 2, std::abs(highest - lowest) / 2 + 1};  // 1 for what a division cuts off
}

std::vector<ClockSample> compare_node_clocks(const mpi::Context& context) {
  const mpi::NodeTopology& topology = context.topology();
  std::vector<ClockSample> samples;
  if (context.rank() == 0) samples.push_back({steady_nanoseconds(), 0, 0});
  for (int rank = 1; rank < context.size(); ++rank) {
    if (topology.node_rank_of(rank) != 0 || (context.rank() != 0 && context.rank() != rank)) continue;
    const ClockSample sample = compare_clocks(context.comm(), 0, rank, steady_nanoseconds);
    if (context.rank() == 0) samples.push_back(sample);
  }
  return samples;
}

Nanoseconds on_own_clock(Nanoseconds there, const ClockSample& before, const ClockSample& after) {
  const Nanoseconds roughly = there - before.ahead;
  if (after.at == before.at) return roughly;
  const double share = static_cast<double>(roughly - before.at) / static_cast<double>(after.at - before.at);
  return roughly - std::llround(share * static_cast<double>(after.ahead - before.ahead));
}

std::vector<std::byte> bytes_of(const Recording& recording) {
  Writer writer;
  writer.put(std::span<const Index>(&recording.lost, 1));
  std::vector<Unlabelled> runs;
  runs.reserve(recording.runs.size());
  for (const TimedRun& run : recording.runs) {
    runs.push_back({run.number, run.repetition, run.begin, run.end, run.traffic});
  }
  writer.put(std::span<const Unlabelled>(runs));
  for (const TimedRun& run : recording.runs) writer.put(std::span<const char>(run.label));
  writer.put(std::span<const TimedOperation>(recording.operations));
  writer.put(std::span<const TimedWork>(recording.work));
  writer.put(std::span<const TimedWait>(recording.waits));
  return writer.take();
}

Recording recording_of(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Recording recording;
  recording.lost = reader.get<std::vector<Index>>().at(0);
  for (const Unlabelled& run : reader.get<std::vector<Unlabelled>>()) {
    recording.runs.push_back({{}, run.number, run.repetition, run.begin, run.end, run.traffic});
  }
  for (TimedRun& run : recording.runs) run.label = reader.get<std::string>();
  recording.operations = reader.get<std::vector<TimedOperation>>();
  recording.work = reader.get<std::vector<TimedWork>>();
  recording.waits = reader.get<std::vector<TimedWait>>();
  return recording;
}

Trace part_of(const Trace& trace, Nanoseconds begin, Nanoseconds end) {
  std::set<Index> numbers;
  if (!trace.ranks.empty()) {
    for (const TimedRun& run : trace.ranks[0].recording.runs) {
      const Nanoseconds at = trace.origin + run.begin;
      if (at >= begin && at < end) numbers.insert(run.number);
    }
  }
  Trace part{{}, trace.clock_error, trace.link_bits_per_second, trace.origin};
  for (const RankTrace& rank : trace.ranks) part.ranks.push_back({rank.node, part_of_rank(rank.recording, numbers)});
  begin_at_zero(part);
  return part;
}

Tracing::Tracing(mpi::Context& context, Index most_bytes) : context_(context) {
  expect_between_runs(context);
  clocks_at_begin_ = compare_node_clocks(context);
  context.timeline().start(most_bytes);
}

Trace Tracing::gather() {
  context_.timeline().stop();
  expect_between_runs(context_);
  const std::vector<ClockSample> clocks_at_end = compare_node_clocks(context_);

  const auto own = mpi::agreed(context_, [&] { return bytes_of(context_.timeline().take()); });
  const auto ranks = static_cast<std::size_t>(context_.size());
  const std::vector<Index> sizes = mpi::all_gather(context_.comm(), static_cast<Index>(own.size()));
  std::vector<Index> sent(ranks, 0);
  std::vector<Index> received(ranks, 0);
  sent[0] = static_cast<Index>(own.size());
  if (context_.rank() == 0) received = sizes;
  auto all = mpi::agreed(context_, [&] {
    return std::vector<std::byte>(static_cast<std::size_t>(std::reduce(received.begin(), received.end(), Index{0})));
  });
  mpi::all_to_all_bytes(context_.comm(), own, sent, all, received);

  return mpi::agreed(context_, [&] {
    Trace trace;
    if (context_.rank() != 0) return trace;
    std::span<const std::byte> rest(all);
    for (int rank = 0; rank < context_.size(); ++rank) {
      const auto size = static_cast<std::size_t>(sizes[static_cast<std::size_t>(rank)]);
      const int node = context_.topology().node_of(rank);
      RankTrace& own_trace = trace.ranks.emplace_back();
      own_trace.node = node;
      own_trace.recording = recording_of(rest.first(size));
      rest = rest.subspan(size);
      const ClockSample& before = clocks_at_begin_[static_cast<std::size_t>(node)];
      const ClockSample& after = clocks_at_end[static_cast<std::size_t>(node)];
      for_each_time(own_trace.recording, [&](Nanoseconds& time) { time = on_own_clock(time, before, after); });
      trace.clock_error = std::max({trace.clock_error, before.error, after.error});
    }
    begin_at_zero(trace);
    return trace;
  });
}

}  // namespace plait::report
