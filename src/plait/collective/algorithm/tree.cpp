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

// The chain that begins at the first.
Tree chain_tree(int size, int me) {
  Tree tree{.first = me, .last = size, .parent = me - 1, .parent_level = size - 1 - me, .children = {}};
  if (me + 1 < size) tree.children.push_back({me + 1, size - 2 - me, me + 1, size});
  return tree;
}

// A tree over a group, as this rank sees it; one that is left out sees it as the first does.
struct GroupTree {
  const Group& group;
  int begin;  // which of the group is number 0 of the tree
  int root;   // of the tree: which of the group
  int levels;
  Index late;  // stages less than the deepest tree of groups that do the same side by side
  int me;      // in the tree
  Tree own;
  Index beyond = 0;  // stages in which a result goes to another root

  [[nodiscard]] int rank(int number) const { return group.rank((begin + number) % group.size()); }
  [[nodiscard]] int parent() const { return rank(own.parent); }
  [[nodiscard]] bool is_root() const noexcept { return own.parent < 0; }
  // Of what goes down.
  [[nodiscard]] int hop_down(int level) const noexcept { return levels - 1 - level; }

  static GroupTree chain(const Group& group, int root) {
    const int me = (std::max(group.me(), 0) - root + group.size()) % group.size();
    return {group, root, root, group.size() - 1, group.widest() - group.size(), me, chain_tree(group.size(), me)};
  }
  static GroupTree of(TreeShape shape, const Group& group, int root) {
    const int me = std::max(group.me(), 0);
    const int levels = depth(shape, group.size());
    return {group, 0, root, levels, depth(shape, group.widest()) - levels, me, tree(shape, group.size(), root, me)};
  }
};

Stream broadcast_along(Graph& graph, const GroupTree& tree, const Stream& stream, Place data) {
  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    Segment& result = results.emplace_back(segment);
    result.stage += tree.levels + tree.late;
    if (!tree.group.contains_me()) continue;
    const auto hop_at = [&](int level) { return segment.position(tree.hop_down(level)); };
    const Range range = stream.range(data, segment);
    if (!tree.is_root()) {
      result.readers = {};
      result.final = {graph.receive(hop_at(tree.own.parent_level), tree.parent(), range, segment.final_and_read())};
    }
    for (const Tree::Child& child : tree.own.children)
      result.readers.push_back(graph.send(hop_at(child.level), tree.rank(child.index), range, result.final));
  }
  return {stream.element_bytes(), std::move(results)};
}

// Trees of all depths end at the stage at which the deepest one does. The `root`-th of the group gets the result from
// the root of the tree, if that is another one.
Stream reduce_along(Graph& graph, const GroupTree& tree, int root, const Stream& stream, const Reducing& how,
                    PoolId staging) {
  expect_pairwise(stream, how.combine);
  const Tree& own = tree.own;
  const bool hands_over = tree.root != root;
  const bool ends_here = tree.is_root() && !hands_over;
  std::vector<Segment> results;
  for (const Segment& segment : stream.segments()) {
    Segment& result = results.emplace_back(segment);
    result.stage += tree.levels + tree.late + tree.beyond;
    if (!tree.group.contains_me()) continue;
    const auto hop_at = [&](int level) { return segment.position(tree.late + level); };
    const Range whole = stream.range(how.out, segment);
    Range partial = stream.range(how.in, segment);
    Dependencies ready = segment.final;
    for (const Tree::Child& child : own.children) {
      const bool is_first = &child == &own.children.front();
      const Range staged{graph.staging(staging), 0, partial.bytes};
      ready.push_back(graph.receive(hop_at(child.level), tree.rank(child.index), staged));
      if (ends_here && is_first) append(ready, segment.readers);
      const Range combined = ends_here ? whole : is_first ? staged : partial;
      const bool is_before = child.index < tree.me;
      ready = {graph.reduce_local(hop_at(child.level), is_before ? staged : partial, is_before ? partial : staged,
                                  combined, how.combine, std::move(ready))};
      partial = combined;
    }
    if (!tree.is_root()) {
      result.readers.push_back(graph.send(hop_at(own.parent_level), tree.parent(), partial, ready));
    } else if (hands_over) {
      result.readers.push_back(graph.send(hop_at(tree.levels), tree.group.rank(root), partial, ready));
    } else if (own.children.empty()) {
      result.final = {own_copy(graph, hop_at(0), partial, whole, segment.final_and_read())};
    } else {
      result.final = ready;
    }
    if (hands_over && tree.group.me() == root)
      result.final = {graph.receive(hop_at(tree.levels), tree.rank(0), whole, result.final_and_read())};
  }
  return {stream.element_bytes(), std::move(results)};
}

// A tree along which a rank passes on what is not its own: by staging memory.
struct PieceTree : GroupTree {
  bool stages = false;
  PoolId pool{};

  PieceTree(Graph& graph, const Group& group, int root, TreeShape shape, const Blocks& blocks)
      : GroupTree(of(shape, group, root)) {
    group.expect_member(root);
    blocks.expect_one_each(group);
    stages = group.contains_me() && !is_root() && !own.children.empty();
    if (!stages) return;
    Index longest = 0;
    for (const Chunk& chunk : blocks.chunks()) {
      Index elements = 0;
      for (int block = own.first; block < own.last; ++block) elements += chunk[at(block)].elements();
      longest = std::max(longest, elements);
    }
    pool = graph.pool(longest * blocks.element_bytes(), staged_blocks(blocks.block(me), levels));
  }
};

template <class Subtree>  // Tree, or one of its children
std::vector<PieceRun> subtree(const Chunk& chunk, const Subtree& tree) {
  return runs(chunk, tree.first, tree.last - tree.first);
}

// Where the pieces of a chunk are on this rank, and after what.
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

void scatter_chunk(Graph& graph, const PieceTree& tree, const Blocks& blocks, Chunk& chunk, Place in, Place out) {
  Segment& own = chunk[at(tree.me)];
  const Position arrival = own.position(tree.is_root() ? 0 : tree.hop_down(tree.own.parent_level));
  Pieces pieces(blocks, chunk, tree.is_root() ? in : out);
  if (tree.is_root()) {
    for (std::size_t block = 0; block < chunk.size(); ++block) pieces.ready[block] = chunk[block].final;
  } else {
    const std::vector<PieceRun> coming = subtree(chunk, tree.own);
    if (tree.stages) pieces.stage(graph.staging(tree.pool), coming);
    for (const PieceRun& run : coming) {
      const OperationId received =
          graph.receive(arrival, tree.parent(), pieces.of(run), tree.stages ? Dependencies{} : own.final_and_read());
      for (const int block : run.blocks) pieces.ready[at(block)] = {received};
    }
  }
  const Range target = blocks.range(out, own.begin, own.end);
  const Range source = pieces.lie[at(tree.me)];
  const Dependencies& there = pieces.ready[at(tree.me)];
  if (own.elements() > 0 && !are_same(source, target)) {
    Dependencies after = own.final_and_read();
    if (!tree.is_root()) append(after, there);
    own.final = {own_copy(graph, arrival, source, target, std::move(after))};
    own.readers = {};
  } else if (own.elements() > 0 && !tree.is_root()) {
    own.final = there;
    own.readers = {};
  }
  for (const Tree::Child& child : tree.own.children) {
    for (const PieceRun& run : subtree(chunk, child)) {
      const OperationId sent = graph.send(own.position(tree.hop_down(child.level)), tree.rank(child.index),
                                          pieces.of(run), pieces.ready_for(run));
      if (!tree.is_root()) continue;
      for (const int block : run.blocks) chunk[at(block)].readers.push_back(sent);
    }
  }
}

void gather_chunk(Graph& graph, const PieceTree& tree, const Blocks& blocks, Chunk& chunk, Place in, Place out) {
  Segment& own = chunk[at(tree.me)];
  Pieces pieces(blocks, chunk, tree.is_root() ? out : in);
  const std::vector<PieceRun> going = tree.is_root() ? std::vector<PieceRun>{} : subtree(chunk, tree.own);
  if (tree.stages) pieces.stage(graph.staging(tree.pool), going);
  const Range source = blocks.range(in, own.begin, own.end);
  const Range target = pieces.lie[at(tree.me)];
  Dependencies& there = pieces.ready[at(tree.me)];
  there = own.final;
  if (own.elements() > 0 && !are_same(source, target)) {
    there = {own_copy(graph, own.position(), source, target, tree.is_root() ? own.final_and_read() : own.final)};
    own.readers.push_back(there.front());
  }
  for (const Tree::Child& child : tree.own.children) {
    for (const PieceRun& run : subtree(chunk, child)) {
      const OperationId received = graph.receive(own.position(child.level), tree.rank(child.index), pieces.of(run),
                                                 tree.is_root() ? finals_and_readers(chunk, run) : Dependencies{});
      for (const int block : run.blocks) pieces.ready[at(block)] = {received};
    }
  }
  for (const PieceRun& run : going) {
    const OperationId sent =
        graph.send(own.position(tree.own.parent_level), tree.parent(), pieces.of(run), pieces.ready_for(run));
    if (!tree.stages) own.readers.push_back(sent);
  }
  if (!tree.is_root()) return;
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

Stream broadcast_chain(Graph& graph, const Group& group, int root, const Stream& stream, Place data) {
  group.expect_member(root);
  return broadcast_along(graph, GroupTree::chain(group, root), stream, data);
}

Stream broadcast_binomial(Graph& graph, const Group& group, int root, const Stream& stream, Place data) {
  group.expect_member(root);
  return broadcast_along(graph, GroupTree::of(TreeShape::binomial, group, root), stream, data);
}

Stream reduce_chain(Graph& graph, const Group& group, int root, const Stream& stream, const Reducing& how) {
  const bool combines = group.contains_me() && group.size() > 1;
  const PoolId staging = graph.pool(combines ? stream.longest_bytes() : 0, staged_blocks(stream, 1));
  return reduce_chain(graph, group, root, stream, how, staging);
}

Stream reduce_chain(Graph& graph, const Group& group, int root, const Stream& stream, const Reducing& how,
                    PoolId staging) {
  group.expect_member(root);
  GroupTree chain = GroupTree::chain(group, how.combine.commutes() ? root : 0);
  chain.beyond = how.combine.commutes() ? 0 : 1;
  return reduce_along(graph, chain, root, stream, how, staging);
}

Stream reduce_binomial(Graph& graph, const Group& group, int root, const Stream& stream, const Reducing& how) {
  group.expect_member(root);
  const GroupTree tree = GroupTree::of(TreeShape::binomial, group, root);
  const bool combines = group.contains_me() && !tree.own.children.empty();
  // What is combined stays in the block that came first until it is sent.
  const PoolId staging =
      graph.pool(combines ? stream.longest_bytes() : 0, staged_blocks(stream, std::max(tree.own.parent_level, 1)));
  return reduce_along(graph, tree, root, stream, how, staging);
}

Blocks scatter(Graph& graph, const Group& group, int root, TreeShape shape, Blocks blocks, Place in, Place out) {
  const PieceTree tree(graph, group, root, shape, blocks);
  for (Chunk& chunk : blocks.chunks()) {
    if (group.contains_me()) scatter_chunk(graph, tree, blocks, chunk, in, out);
  }
  blocks.add_stages(tree.levels + tree.late);
  return blocks;
}

Blocks gather(Graph& graph, const Group& group, int root, TreeShape shape, Blocks blocks, const Places& in, Place out) {
  const PieceTree tree(graph, group, root, shape, blocks);
  for (std::size_t c = 0; c < blocks.chunks().size(); ++c) {
    Chunk& chunk = blocks.chunks()[c];
    if (group.contains_me()) gather_chunk(graph, tree, blocks, chunk, in.of(c), out);
  }
  blocks.add_stages(tree.levels + tree.late);
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
