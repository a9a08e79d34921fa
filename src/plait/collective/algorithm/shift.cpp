#include "plait/collective/algorithm/shift.hpp"

#include <utility>
#include <vector>

#include "plait/collective/algorithm/own_copy.hpp"
#include "plait/collective/arguments.hpp"

namespace plait::collective {

namespace {

int places_on(Index distance, int ranks) {
  const Index places = distance % ranks;
  return static_cast<int>(places < 0 ? places + ranks : places);
}

}  // namespace

Stream shift(Graph& graph, const Group& group, Index distance, const Stream& stream, Place in, Place out) {
  const int places = places_on(distance, group.size());
  const bool is_staged = group.contains_me() && places != 0 && in == out;
  const PoolId pool = graph.pool(is_staged ? stream.longest_bytes() : 0, staged_blocks(stream, 1));
  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    Segment& result = results.emplace_back(segment);
    result.stage += 1;
    if (!group.contains_me()) continue;
    const Position position = segment.position();
    const Range own = stream.range(in, segment);
    const Range coming = stream.range(out, segment);
    if (places == 0) {
      result.final = {own_copy(graph, position, own, coming, segment.final_and_read())};
      continue;
    }
    const int to = group.rank((group.me() + places) % group.size());
    const int from = group.rank((group.me() + group.size() - places) % group.size());
    const OperationId sent = graph.send(position, to, own, segment.final);
    if (is_staged) {
      const Range staged{graph.staging(pool), 0, coming.bytes};
      Dependencies free = segment.readers;
      free.push_back(sent);
      free.push_back(graph.receive(position, from, staged));
      result.final = {own_copy(graph, position, staged, coming, std::move(free))};
      result.readers = {};
    } else {
      result.final = {graph.receive(position, from, coming, segment.final_and_read())};
      result.readers = {sent};
    }
  }
  return {stream.element_bytes(), std::move(results)};
}

}  // namespace plait::collective
