#include <optional>
#include <utility>
#include <vector>

#include "plait/collective/algorithm/blocks.hpp"
#include "plait/collective/algorithm/to_all.hpp"
#include "plait/collective/stream.hpp"
#include "plait/model/pairing.hpp"

namespace plait::collective {

namespace {

using model::Pairing;

// This rank's part of `allreduce_doubling`.
struct Doubling {
  Graph& graph;
  const Group& group;
  const Stream& stream;
  const Reducing& how;
  PoolId staging;
  Pairing pairing{group.size()};

  // Where what has been combined until now lies, and after what.
  struct Partial {
    Range range;
    Dependencies ready;
    std::optional<Range> to = {};  // where the next result is to be, if not in staging memory
  };

  [[nodiscard]] Segment with_neighbour(const Segment& segment) const {
    const int neighbour = group.rank(group.me() - 1);
    Segment result = segment;
    const OperationId sent = graph.send(segment.position(), neighbour, stream.range(how.in, segment), segment.final);
    result.readers.push_back(sent);
    result.final = {graph.receive(segment.position(pairing.rounds() + 1), neighbour, stream.range(how.out, segment),
                                  result.final_and_read())};
    result.readers = {};
    return result;
  }

  [[nodiscard]] Segment acting(const Segment& segment) const {
    const int me = group.me();
    const int actor = pairing.actor_of(me);
    Segment result = segment;
    Partial partial{stream.range(how.in, segment), segment.final};
    if (pairing.acts_for_two(me)) combine(partial, segment.position(), me + 1, true);
    for (int round = 1; round <= pairing.rounds(); ++round) {
      const Position position = segment.position(round);
      const int other = actor ^ (1 << (round - 1));
      const int peer = pairing.first_rank(other);
      // The operand is overwritten, if at all, after the last round, in which all that was sent has arrived or will.
      result.readers.push_back(graph.send(position, group.rank(peer), partial.range, partial.ready));
      if (round == pairing.rounds()) {
        partial.to = stream.range(how.out, segment);
        append(partial.ready, result.readers);
      }
      combine(partial, position, peer, other > actor);
    }
    result.final = partial.ready;
    result.readers = {};
    if (pairing.acts_for_two(me)) {
      result.readers.push_back(graph.send(segment.position(pairing.rounds() + 1), group.rank(me + 1),
                                          stream.range(how.out, segment), result.final));
    }
    return result;
  }

 private:
  void combine(Partial& partial, Position position, int peer, bool peer_is_right) const {
    const Range staged{graph.staging(staging), 0, partial.range.bytes};
    Dependencies after = partial.ready;
    after.push_back(graph.receive(position, group.rank(peer), staged));
    const Range to = partial.to.value_or(staged);
    partial.ready = {graph.reduce_local(position, peer_is_right ? partial.range : staged,
                                        peer_is_right ? staged : partial.range, to, how.combine, std::move(after))};
    partial.range = to;
  }
};

}  // namespace

Stream allreduce_ring(Graph& graph, const Group& group, const Stream& stream, const Reducing& how) {
  Blocks blocks = Blocks::split(stream, group.size());
  blocks = reduce_scatter_ring(graph, group, std::move(blocks), how);
  return all_gather_ring(graph, group, std::move(blocks), how.out).joined();
}

Stream allreduce_rabenseifner(Graph& graph, const Group& group, const Stream& stream, const Reducing& how) {
  Blocks blocks = Blocks::split(stream, group.size());
  blocks = reduce_scatter_halving(graph, group, std::move(blocks), how);
  return all_gather_doubling(graph, group, std::move(blocks), how.out).joined();
}

Stream allreduce_doubling(Graph& graph, const Group& group, const Stream& stream, const Reducing& how) {
  expect_pairwise(stream, how.combine);
  const Pairing pairing(group.size());
  const bool combines = group.contains_me() && group.size() > 1 && !pairing.is_folded(group.me());
  // A round's partial result is there until the next one's is.
  const PoolId staging =
      graph.pool(combines ? stream.longest_bytes() : 0, 2 * staged_blocks(stream, pairing.rounds() + 1));
  const Doubling doubling{graph, group, stream, how, staging};
  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    Segment result = segment;
    if (group.contains_me() && group.size() == 1) {
      result.final = {own_copy(graph, segment.position(), stream.range(how.in, segment), stream.range(how.out, segment),
                               segment.final_and_read())};
      result.readers = {};
    } else if (group.contains_me()) {
      result = pairing.is_folded(group.me()) ? doubling.with_neighbour(segment) : doubling.acting(segment);
    }
    result.stage += Pairing(group.widest()).rounds() + 2;
    results.push_back(std::move(result));
  }
  return {stream.element_bytes(), std::move(results)};
}

}  // namespace plait::collective
