#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plait/base/index.hpp"
#include "plait/schedule/graph.hpp"
#include "plait/schedule/schedule.hpp"

namespace plait::test {

using schedule::Binding;
using schedule::Graph;
using schedule::OperationId;
using schedule::PoolId;
using schedule::Schedule;
using schedule::SlotId;
using ThisRun = schedule::Run;  // within a test `Run` is GoogleTest's

/// Memory of small schedules: exact numbers, whose sums do not depend on order.
using Words = std::vector<std::uint64_t>;
inline constexpr Index word_bytes = sizeof(Words::value_type);

[[nodiscard]] inline Binding input(const Words& words) { return Binding::input(std::as_bytes(std::span(words))); }
[[nodiscard]] inline Binding output(Words& words) { return Binding::output(std::as_writable_bytes(std::span(words))); }

/// `count` words of a slot from `first` on.
[[nodiscard]] inline schedule::Range words_of(SlotId slot, Index first, Index count) {
  return {slot, first * word_bytes, count * word_bytes};
}

/// A word of a slot, for computations.
[[nodiscard]] inline std::uint64_t& word(const schedule::Run& run, SlotId slot, Index index = 0) {
  return reinterpret_cast<std::uint64_t*>(run.address(slot))[index];
}

}  // namespace plait::test
