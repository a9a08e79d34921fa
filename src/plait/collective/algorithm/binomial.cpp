#include "plait/collective/algorithm/binomial.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "plait/collective/algorithm/own_copy.hpp"
#include "plait/collective/algorithm/tree.hpp"
#include "plait/collective/arguments.hpp"

namespace plait::collective {

namespace {}  // namespace

Stream broadcast_binomial(Graph& graph, const Group& group, int root, const Stream& stream, Place data) {
  group.expect_member(root);
  const Index hops = depth(TreeShape::binomial, group.widest());
  const int levels = depth(TreeShape::binomial, group.size());
  const Tree own = tree(TreeShape::binomial, group.size(), root, std::max(group.me(), 0));
  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    Segment& result = results.emplace_back(segment);
    result.stage += hops;
    if (!group.contains_me()) continue;
    const auto hop_at = [&](int level) { return segment.position(levels - 1 - level); };
    const Range range = stream.range(data, segment);
    if (own.parent >= 0) {
      result.readers = {};
      result.final = {graph.receive(hop_at(own.parent_level), group.rank(own.parent), range, segment.final_and_read())};
    }
    for (const Tree::Child& child : own.children)
      result.readers.push_back(graph.send(hop_at(child.level), group.rank(child.index), range, result.final));
  }
  return {stream.element_bytes(), std::move(results)};
}

Stream reduce_binomial(Graph& graph, const Group& group, int root, const Stream& stream, Place in, Place out,
                       const Combine& combine) {
  group.expect_member(root);
  expect_pairwise(stream, combine);
  const int me = std::max(group.me(), 0);
  const Tree own = tree(TreeShape::binomial, group.size(), root, me);
  const bool is_root = own.parent < 0;
  const bool combines = group.contains_me() && !own.children.empty();
  // What is combined stays in the block that came first until it is sent.
  const PoolId pool =
      graph.pool(combines ? stream.longest_bytes() : 0, staged_blocks(stream, std::max(own.parent_level, 1)));

  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    Segment& result = results.emplace_back(segment);
    result.stage += depth(TreeShape::binomial, group.widest());
    if (!group.contains_me()) continue;
    const Range whole = stream.range(out, segment);
    Range partial = stream.range(in, segment);
    Dependencies ready = segment.final;
    for (const Tree::Child& child : own.children) {
      const bool is_first = &child == &own.children.front();
      const Range staged{graph.staging(pool), 0, partial.bytes};
      ready.push_back(graph.receive(segment.position(child.level), group.rank(child.index), staged));
      if (is_root && is_first) append(ready, segment.readers);
      const Range combined = is_root ? whole : is_first ? staged : partial;
      const bool is_before = child.index < me;
      ready = {graph.reduce_local(segment.position(child.level), is_before ? staged : partial,
                                  is_before ? partial : staged, combined, combine, std::move(ready))};
      partial = combined;
    }
    if (!is_root) {
      result.readers.push_back(graph.send(segment.position(own.parent_level), group.rank(own.parent), partial, ready));
    } else if (combines) {
      result.final = ready;
    } else {
      result.final = {own_copy(graph, segment.position(), partial, whole, segment.final_and_read())};
    }
  }
  return {stream.element_bytes(), std::move(results)};
}

}  // namespace plait::collective
