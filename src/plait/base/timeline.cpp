#include "plait/base/timeline.hpp"

#include <utility>

#include "plait/base/contract.hpp"

namespace plait {

namespace {

constexpr Nanoseconds adjacent = 1000;  // less than that between two times of one kind is no gap

}  // namespace

void Timeline::start(Index most_bytes) {
  PLAIT_ASSERT(open_runs_ == 0, "recording begins between runs");
  recording_ = {};
  most_bytes_ = most_bytes;
  bytes_ = 0;
  runs_ = 0;
  waited_for_ = -1;
  latest_ = never;
  is_recording_ = true;
}

Recording Timeline::take() {
  PLAIT_ASSERT(open_runs_ == 0, "a recording ends between runs");
  return std::exchange(recording_, {});
}

Index Timeline::open_run(const std::string& label, Index repetition, Index operations,
                         Index& first_operation) noexcept {
  const Index number = runs_++;
  if (!takes(sizeof(TimedRun) + label.size() + static_cast<std::size_t>(operations) * sizeof(TimedOperation))) {
    ++recording_.lost;
    return -1;
  }
  const std::size_t run = recording_.runs.size();
  const std::size_t first = recording_.operations.size();
  try {
    recording_.operations.resize(first + static_cast<std::size_t>(operations));
    recording_.runs.push_back({.label = label, .number = number, .repetition = repetition});
  } catch (...) {
    recording_.operations.resize(first);
    ++recording_.lost;
    return -1;
  }
  ++open_runs_;
  first_operation = static_cast<Index>(first);
  return static_cast<Index>(run);
}

void Timeline::worked(Index operation, Nanoseconds begin, Nanoseconds end) noexcept {
  latest_ = end;
  if (!recording_.work.empty()) {
    TimedWork& last = recording_.work.back();
    if (last.operation == operation && begin - last.end < adjacent) {
      last.end = end;
      return;
    }
  }
  append(recording_.work, TimedWork{operation, begin, end});
}

Index Timeline::wait_for(Index run) noexcept {
  latest_ = steady_nanoseconds();
  return std::exchange(waited_for_, run);
}

void Timeline::was_idle_until(Nanoseconds when) noexcept {
  if (waited_for_ < 0) return;
  if (!recording_.waits.empty()) {
    TimedWait& last = recording_.waits.back();
    if (last.run == waited_for_ && latest_ - last.end < adjacent) {
      last.end = when;
      return;
    }
  }
  append(recording_.waits, TimedWait{waited_for_, latest_, when});
}

template <class T>
void Timeline::append(std::vector<T>& entries, const T& entry) noexcept {
  if (!takes(sizeof(T))) {
    ++recording_.lost;
    return;
  }
  try {
    entries.push_back(entry);
  } catch (...) {
    ++recording_.lost;
  }
}

bool Timeline::takes(std::size_t bytes) noexcept {
  const auto all = bytes_ + static_cast<Index>(bytes);
  if (all > most_bytes_) return false;
  bytes_ = all;
  return true;
}

}  // namespace plait
