#include "plait/report/recording_bytes.hpp"

#include <cstring>
#include <string>
#include <type_traits>

#include "plait/base/contract.hpp"

namespace plait::report {

namespace {

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

}  // namespace

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

}  // namespace plait::report
