#include <algorithm>
#include <utility>

#include "plait/base/doublings.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/to_all.hpp"

namespace plait::collective {

namespace {

// At level k two neighbouring blocks of 2^k are joined by their heads.
Tree binomial_tree(int size, int root, int me) {
  Tree tree{.first = me, .last = me + 1, .children = {}};
  for (int level = 0; (1 << level) < size; ++level) {
    const int block = me >> level << level;
    const int other = block ^ (1 << level);
    const auto holds_root = [&](int first) { return first <= root && root < first + (1 << level); };
    if (other >= size) continue;
    if (me != root && (holds_root(other) || other < block)) {
      tree.parent = holds_root(other) ? root : other;
      tree.parent_level = level;
      break;
    }
    const int other_last = std::min(other + (1 << level), size);
    tree.children.push_back({other, level, other, other_last});
    tree.first = std::min(tree.first, other);
    tree.last = std::max(tree.last, other_last);
  }
  return tree;
}

Tree linear_tree(int size, int root, int me) {
  if (me != root) return {.first = me, .last = me + 1, .parent = root, .children = {}};
  Tree tree{.first = 0, .last = size, .children = {}};
  for (int index = 0; index < size; ++index) {
    if (index != root) tree.children.push_back({index, 0, index, index + 1});
  }
  return tree;
}

// This rank's part of the tree.
class Way {
 public:
  Way(Graph& graph, const Group& group, int root, TreeShape shape, const Blocks& blocks)
      : group_(group), hops_(depth(shape, group.widest())), levels_(depth(shape, group.size())) {
    group.expect_member(root);
    blocks.expect_one_each(group);
    if (!group.contains_me()) return;
    tree_ = collective::tree(shape, group.size(), root, group.me());
    if (!stages()) return;
    Index longest = 0;
    for (const Chunk& chunk : blocks.chunks()) {
      Index elements = 0;
      for (int block = tree_.first; block < tree_.last; ++block) elements += chunk[at(block)].elements();
      longest = std::max(longest, elements);
    }
    pool_ = graph.pool(longest * blocks.element_bytes(), staged_blocks(blocks.block(group.me()), levels_));
  }

  [[nodiscard]] bool is_root() const noexcept { return tree_.parent < 0; }
  /// Whether it passes on what is not its own: by staging memory.
  [[nodiscard]] bool stages() const noexcept { return !is_root() && !tree_.children.empty(); }
  [[nodiscard]] PoolId pool() const noexcept { return pool_; }
  [[nodiscard]] Index hops() const noexcept { return hops_; }
  [[nodiscard]] Index hop_down(int level) const noexcept { return levels_ - 1 - level; }
  [[nodiscard]] int parent_level() const noexcept { return tree_.parent_level; }
  [[nodiscard]] int parent() const { return group_.rank(tree_.parent); }
  [[nodiscard]] const std::vector<Tree::Child>& children() const noexcept { return tree_.children; }
  [[nodiscard]] std::vector<PieceRun> subtree(const Chunk& chunk) const {
    return runs(chunk, tree_.first, tree_.last - tree_.first);
  }

 private:
  const Group& group_;
  Index hops_;
  int levels_;
  Tree tree_{};
  PoolId pool_{};
};

std::vector<PieceRun> subtree(const Chunk& chunk, const Tree::Child& child) {
  return runs(chunk, child.first, child.last - child.first);
}

// Where the pieces of a chunk are on this rank, and since when.
struct Pieces {
  std::vector<Range> lie;
  std::vector<Dependencies> ready;

  // All of the vector at `place`.
  Pieces(const Blocks& blocks, const Chunk& chunk, Place place) : ready(chunk.size()) {
    for (const Segment& piece : chunk) lie.push_back(blocks.range(place, piece.begin, piece.end));
  }
  // Those of some runs, one behind the other, in staging memory.
  void stage(SlotId slot, const std::vector<PieceRun>& staged) {
    Index offset = 0;
    for (const PieceRun& run : staged) {
      for (const int block : run.blocks) {
        lie[at(block)].slot = slot;
        lie[at(block)].offset = std::exchange(offset, offset + lie[at(block)].bytes);
      }
    }
  }
  [[nodiscard]] Range of(const PieceRun& run) const {
    Range range = lie[at(run.blocks.front())];
    range.bytes = 0;
    for (const int block : run.blocks) range.bytes += lie[at(block)].bytes;
    return range;
  }
  [[nodiscard]] Dependencies ready_for(const PieceRun& run) const {
    Dependencies all;
    for (const int block : run.blocks) append_new(all, ready[at(block)]);
    return all;
  }
};

bool are_same(const Range& a, const Range& b) { return a.slot == b.slot && a.offset == b.offset; }

void scatter_chunk(Graph& graph, const Group& group, const Way& way, const Blocks& blocks, Chunk& chunk, Place in,
                   Place out) {
  Segment& own = chunk[at(group.me())];
  const Position arrival = own.position(way.is_root() ? 0 : way.hop_down(way.parent_level()));
  Pieces pieces(blocks, chunk, way.is_root() ? in : out);
  if (way.is_root()) {
    for (std::size_t block = 0; block < chunk.size(); ++block) pieces.ready[block] = chunk[block].final;
  } else {
    const std::vector<PieceRun> coming = way.subtree(chunk);
    if (way.stages()) pieces.stage(graph.staging(way.pool()), coming);
    for (const PieceRun& run : coming) {
      const OperationId received =
          graph.receive(arrival, way.parent(), pieces.of(run), way.stages() ? Dependencies{} : own.final_and_read());
      for (const int block : run.blocks) pieces.ready[at(block)] = {received};
    }
  }
  const Range target = blocks.range(out, own.begin, own.end);
  const Range source = pieces.lie[at(group.me())];
  const Dependencies& there = pieces.ready[at(group.me())];
  if (own.elements() > 0 && !are_same(source, target)) {
    Dependencies after = own.final_and_read();
    if (!way.is_root()) append(after, there);
    own.final = {own_copy(graph, arrival, source, target, std::move(after))};
    own.readers = {};
  } else if (own.elements() > 0 && !way.is_root()) {
    own.final = there;
    own.readers = {};
  }
  for (const Tree::Child& child : way.children()) {
    for (const PieceRun& run : subtree(chunk, child)) {
      const OperationId sent = graph.send(own.position(way.hop_down(child.level)), group.rank(child.index),
                                          pieces.of(run), pieces.ready_for(run));
      if (!way.is_root()) continue;
      for (const int block : run.blocks) chunk[at(block)].readers.push_back(sent);
    }
  }
}

void gather_chunk(Graph& graph, const Group& group, const Way& way, const Blocks& blocks, Chunk& chunk, Place in,
                  Place out) {
  Segment& own = chunk[at(group.me())];
  Pieces pieces(blocks, chunk, way.is_root() ? out : in);
  const std::vector<PieceRun> going = way.is_root() ? std::vector<PieceRun>{} : way.subtree(chunk);
  if (way.stages()) pieces.stage(graph.staging(way.pool()), going);
  const Range source = blocks.range(in, own.begin, own.end);
  const Range target = pieces.lie[at(group.me())];
  Dependencies& there = pieces.ready[at(group.me())];
  there = own.final;
  if (own.elements() > 0 && !are_same(source, target)) {
    there = {own_copy(graph, own.position(), source, target, way.is_root() ? own.final_and_read() : own.final)};
    own.readers.push_back(there.front());
  }
  for (const Tree::Child& child : way.children()) {
    for (const PieceRun& run : subtree(chunk, child)) {
      const OperationId received = graph.receive(own.position(child.level), group.rank(child.index), pieces.of(run),
                                                 way.is_root() ? finals_and_readers(chunk, run) : Dependencies{});
      for (const int block : run.blocks) pieces.ready[at(block)] = {received};
    }
  }
  for (const PieceRun& run : going) {
    const OperationId sent =
        graph.send(own.position(way.parent_level()), way.parent(), pieces.of(run), pieces.ready_for(run));
    if (!way.stages()) own.readers.push_back(sent);
  }
  if (!way.is_root()) return;
  for (std::size_t block = 0; block < chunk.size(); ++block) {
    if (chunk[block].elements() > 0) chunk[block].final = pieces.ready[block];
    if (&chunk[block] != &own) chunk[block].readers = {};
  }
}

}  // namespace

Tree tree(TreeShape shape, int size, int root, int me) {
  return shape == TreeShape::binomial ? binomial_tree(size, root, me) : linear_tree(size, root, me);
}

int depth(TreeShape shape, int size) noexcept {
  return shape == TreeShape::linear ? std::min(size - 1, 1) : doublings(size);
}

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

Stream reduce_binomial(Graph& graph, const Group& group, int root, const Stream& stream, const Reducing& how) {
  group.expect_member(root);
  expect_pairwise(stream, how.combine);
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
    const Range whole = stream.range(how.out, segment);
    Range partial = stream.range(how.in, segment);
    Dependencies ready = segment.final;
    for (const Tree::Child& child : own.children) {
      const bool is_first = &child == &own.children.front();
      const Range staged{graph.staging(pool), 0, partial.bytes};
      ready.push_back(graph.receive(segment.position(child.level), group.rank(child.index), staged));
      if (is_root && is_first) append(ready, segment.readers);
      const Range combined = is_root ? whole : is_first ? staged : partial;
      const bool is_before = child.index < me;
      ready = {graph.reduce_local(segment.position(child.level), is_before ? staged : partial,
                                  is_before ? partial : staged, combined, how.combine, std::move(ready))};
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

Blocks scatter(Graph& graph, const Group& group, int root, TreeShape shape, Blocks blocks, Place in, Place out) {
  const Way way(graph, group, root, shape, blocks);
  for (Chunk& chunk : blocks.chunks()) {
    if (group.contains_me()) scatter_chunk(graph, group, way, blocks, chunk, in, out);
    for (Segment& piece : chunk) piece.stage += way.hops();
  }
  return blocks;
}

Blocks gather(Graph& graph, const Group& group, int root, TreeShape shape, Blocks blocks, const Places& in, Place out) {
  const Way way(graph, group, root, shape, blocks);
  for (std::size_t c = 0; c < blocks.chunks().size(); ++c) {
    Chunk& chunk = blocks.chunks()[c];
    if (group.contains_me()) gather_chunk(graph, group, way, blocks, chunk, in.of(c), out);
    for (Segment& piece : chunk) piece.stage += way.hops();
  }
  return blocks;
}

Stream broadcast_scatter_all_gather(Graph& graph, const Group& group, int root, TreeShape shape, AllGatherWay way,
                                    const Stream& stream, Place data) {
  Blocks blocks = scatter(graph, group, root, shape, Blocks::split(stream, group.size()), data, data);
  blocks = way == AllGatherWay::ring ? all_gather_ring(graph, group, std::move(blocks), data)
                                     : all_gather_doubling(graph, group, std::move(blocks), data);
  return blocks.joined();
}

Stream reduce_halving_gather(Graph& graph, const Group& group, int root, TreeShape shape, const Stream& stream,
                             const Reducing& how) {
  group.expect_member(root);
  expect_pairwise(stream, how.combine);
  Blocks blocks = Blocks::split(stream, group.size());
  if (!group.contains_me() || group.me() == root) {
    blocks = reduce_scatter_halving(graph, group, std::move(blocks), how);
    return gather(graph, group, root, shape, std::move(blocks), how.out, how.out).joined();
  }
  // A result is held from the last round of the reduction, at the earliest, to the end of the gather.
  const Stream own = blocks.block(group.me());
  const Index stages = 2 * Index{depth(TreeShape::binomial, group.widest())} + 2;
  const PoolId pool = graph.pool(own.longest_bytes(), staged_blocks(own, stages));
  std::vector<Place> results;
  for (const Segment& piece : own.segments())
    results.push_back({graph.staging(pool), -piece.begin * stream.element_bytes()});
  const Places staged(std::move(results));
  blocks = reduce_scatter_halving(graph, group, std::move(blocks), how, staged);
  return gather(graph, group, root, shape, std::move(blocks), staged, how.out).joined();
}

}  // namespace plait::collective
