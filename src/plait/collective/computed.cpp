#include "plait/collective/computed.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace plait::collective {

Stream computed(Graph& graph, std::function<void(std::span<std::byte> elements, Index first)> f, const Stream& stream,
                Place data) {
  const auto shared = std::make_shared<const decltype(f)>(std::move(f));  // by all segments
  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    const Range range = stream.range(data, segment);
    const auto work = [shared, range, first = segment.begin](const schedule::Run& run, Index) {
      (*shared)({run.address(range.slot, range.offset), static_cast<std::size_t>(range.bytes)}, first);
    };
    Segment& result = results.emplace_back(segment);
    result.final = {graph.compute(segment.position(), 1, work, {range.slot}, segment.final_and_read())};
    result.readers = {};
  }
  return {stream.element_bytes(), std::move(results)};
}

}  // namespace plait::collective
