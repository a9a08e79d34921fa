#include <utility>
#include <vector>

#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/stream.hpp"

namespace plait::collective {

namespace {

// The group in the order of the chain, which begins at `first`.
struct Chain {
  const Group& group;
  int first;
  [[nodiscard]] int place_of(int index) const { return (index - first + group.size()) % group.size(); }
  [[nodiscard]] int rank_at(int place) const { return group.rank((first + place) % group.size()); }
  [[nodiscard]] int last() const { return group.size() - 1; }
};

}  // namespace

Stream broadcast_chain(Graph& graph, const Group& group, int root, const Stream& stream, Place data) {
  group.expect_member(root);
  const Chain chain{group, root};
  const int place = group.contains_me() ? chain.place_of(group.me()) : 0;
  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    Segment& result = results.emplace_back(segment);
    result.stage += group.widest() - 1;
    if (!group.contains_me()) continue;
    const Range range = stream.range(data, segment);
    if (place > 0) {
      result.readers = {};
      result.final = {
          graph.receive(segment.position(place - 1), chain.rank_at(place - 1), range, segment.final_and_read())};
    }
    if (place < chain.last())
      result.readers.push_back(graph.send(segment.position(place), chain.rank_at(place + 1), range, result.final));
  }
  return {stream.element_bytes(), std::move(results)};
}

Stream reduce_chain(Graph& graph, const Group& group, int root, const Stream& stream, const Reducing& how) {
  const bool combines = group.contains_me() && group.size() > 1;
  const PoolId staging = graph.pool(combines ? stream.longest_bytes() : 0, staged_blocks(stream, 1));
  return reduce_chain(graph, group, root, stream, how, staging);
}

Stream reduce_chain(Graph& graph, const Group& group, int root, const Stream& stream, const Reducing& how,
                    PoolId staging) {
  group.expect_member(root);
  expect_pairwise(stream, how.combine);
  const Chain chain{group, how.combine.commutes() ? root : 0};
  const Index hops = group.widest() - 1;  // to the beginning of the longest chain, where its result is
  const bool hands_over = chain.first != root;
  const int place = group.contains_me() ? chain.place_of(group.me()) : 0;
  const bool combines = group.contains_me() && place < chain.last();

  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    Segment& result = results.emplace_back(segment);
    result.stage += hops + (how.combine.commutes() ? 0 : 1);
    if (!group.contains_me()) continue;
    // Chains of all lengths end at the stage at which the longest one does.
    const auto hop_from = [&](int sender) { return segment.position(hops - sender); };
    const Range own = stream.range(how.in, segment);
    const Range whole = stream.range(how.out, segment);
    Range partial = own;
    Dependencies ready = segment.final;
    if (combines) {
      const Range staged{graph.staging(staging), 0, own.bytes};
      ready.push_back(graph.receive(hop_from(place + 1), chain.rank_at(place + 1), staged));
      if (place == 0 && !hands_over) {
        append(ready, segment.readers);
        partial = whole;
      } else {
        partial = staged;
      }
      ready = {graph.reduce_local(hop_from(place + 1), own, staged, partial, how.combine, std::move(ready))};
    }
    if (place > 0) {
      result.readers.push_back(graph.send(hop_from(place), chain.rank_at(place - 1), partial, ready));
    } else if (hands_over) {
      result.readers.push_back(graph.send(hop_from(0), group.rank(root), partial, ready));
    } else if (combines) {
      result.final = ready;
    } else {
      result.final = {own_copy(graph, hop_from(0), own, whole, segment.final_and_read())};
    }
    if (hands_over && group.me() == root)
      result.final = {graph.receive(hop_from(0), chain.rank_at(0), whole, result.final_and_read())};
  }
  return {stream.element_bytes(), std::move(results)};
}

}  // namespace plait::collective
