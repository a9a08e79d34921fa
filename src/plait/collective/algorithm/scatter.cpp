#include "plait/collective/algorithm/scatter.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "plait/collective/algorithm/own_copy.hpp"
#include "plait/collective/arguments.hpp"

namespace plait::collective {

namespace {

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

}  // namespace plait::collective
