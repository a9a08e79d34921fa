#include "plait/collective/algorithm/own_copy.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "plait/base/contract.hpp"
#include "plait/base/rounding.hpp"

namespace plait::collective {

namespace {

constexpr Index copy_step_bytes = Index{256} << 10;

}  // namespace

OperationId own_copy(Graph& graph, Position position, Range from, Range to, Dependencies after) {
  PLAIT_ASSERT(from.bytes == to.bytes, "a copy is as long as what it is a copy of");
  const bool is_there = from.slot == to.slot && from.offset == to.offset;
  const Index steps = is_there ? 0 : quotient_up(from.bytes, copy_step_bytes);
  const auto copy = [from, to](const schedule::Run& run, Index step) {
    const Index done = step * copy_step_bytes;
    const Index bytes = std::min(copy_step_bytes, from.bytes - done);
    const std::byte* const source = run.address(from.slot, from.offset + done);
    std::byte* const target = run.address(to.slot, to.offset + done);
    if (source == target) return;  // bound to the same memory
    std::memcpy(target, source, static_cast<std::size_t>(bytes));
    run.count_own_move(bytes);
  };
  return graph.compute(position, steps, copy, {from.slot, to.slot}, std::move(after));
}

}  // namespace plait::collective
