#include <optional>

#include "plait/collective/stream.hpp"
#include "plait/dense/symm/plan.hpp"
#include "plait/dense/symm/scheduled.hpp"

namespace plait::dense::symm {

namespace {

using collective::Segment;
using schedule::Dependencies;
using schedule::Position;

/// Algorithm 5: Algorithm 4 with each block in strands that follow each other, by plait's pipelined chains or the MPI
/// library's non-blocking collectives.
class Overlapped final : public Scheduled {
 public:
  /// Collective over the context.
  Overlapped(mpi::Context& context, const Grid& mesh, const Products& products, const Options& options);

 private:
  using Stream = collective::Stream;
  using Reducer = int (*)(int i, int k);  // at which j block (i, k) is reduced

  void build(Graph& graph, const Slots& slots, Powers powers) override;
  [[nodiscard]] int strands() const noexcept override { return lines_.strands(); }
  [[nodiscard]] Index workspace_elements() const override;

  void send_home(Graph& graph, Reducer reducer, const Stream& reduced, Place block, Place home,
                 Index first_stage) const;

  Lines lines_;
  layout::GridPlace me_;
  Index rows_ = 0, inner_ = 0, columns_ = 0;  // C is rows × columns, a sum of `inner` terms
  std::optional<Lines::Line> along_i_, along_j_, along_k_;
};

Overlapped::Overlapped(mpi::Context& context, const Grid& mesh, const Products& products, const Options& options)
    : Scheduled(context, mesh, products, options), lines_(context, products, options, segment_elements()) {
  if (!mesh.contains(context.rank())) return;
  me_ = mesh.place(context.rank());
  rows_ = mesh.extent(me_.row), inner_ = mesh.extent(me_.column), columns_ = mesh.extent(me_.layer);
  along_k_ = lines_.line(mesh.ranks_of_layers(me_.row, me_.column));
  along_j_ = lines_.line(mesh.ranks_of_row(me_.row, me_.layer));
  along_i_ = lines_.line(mesh.ranks_of_column(me_.column, me_.layer));
}

// A, B, C and the block that is reduced here, of D² and of D³.
Index Overlapped::workspace_elements() const { return rows_ * inner_ + inner_ * columns_ + 3 * rows_ * columns_; }

// Block (i, k) from P(i, reducer(i, k), k) to P(i, k, 0).
void Overlapped::send_home(Graph& graph, Reducer reducer, const Stream& reduced, Place block, Place home,
                           Index first_stage) const {
  const int to = mesh().rank(me_.row, me_.layer, 0);
  const bool sends = me_.column == reducer(me_.row, me_.layer);
  const auto position = [&](const Segment& segment) {
    return Position{first_stage + segment.number, segment.strand, segment.number};
  };
  if (sends) {
    for (const Segment& segment : reduced.segments()) {
      const schedule::Range from = reduced.range(block, segment);
      if (to == context().rank()) {
        static_cast<void>(
            collective::own_copy(graph, position(segment), from, reduced.range(home, segment), segment.final));
      } else {
        graph.send(position(segment), to, from, segment.final);
      }
    }
  }
  const int from = mesh().rank(me_.row, reducer(me_.row, me_.column), me_.column);
  if (me_.layer != 0 || from == context().rank()) return;
  const Stream coming = lines_.cut(rows_ * inner_, 0);
  for (const Segment& segment : coming.segments()) graph.receive(position(segment), from, coming.range(home, segment));
}

void Overlapped::build(Graph& graph, const Slots& slots, Powers powers) {
  const Index hops = lines_.stages_of_collective(mesh().edge());
  const Index phase = lines_.stages(mesh().most_elements()) + 2 * hops + 1;
  Index offset = 0;
  const auto take = [&](Index elements) {
    const Place place{slots.workspace, offset};
    offset += bytes(elements);
    return place;
  };
  const Place a = me_.layer == 0 ? Place{slots.d} : take(rows_ * inner_);
  const Place received = take(inner_ * columns_);
  const Place c = take(rows_ * columns_);
  const Place d2 = take(rows_ * columns_);
  const Place d3 = take(rows_ * columns_);
  const auto range = [&](Place place, Index elements) {
    return schedule::Range{place.slot, place.offset, bytes(elements)};
  };

  // D(i, j) to P(i, j, :), from there D(k, j) to P(:, j, k).
  const Stream as = lines_.broadcast(graph, *along_k_, 0, lines_.cut(rows_ * inner_, 0), a);
  const bool has_kj = me_.row == me_.layer;
  const Place kj = has_kj ? a : received;
  const Stream bs =
      lines_.broadcast(graph, *along_i_, me_.layer, has_kj ? as : lines_.cut(columns_ * inner_, hops), kj);
  Dependencies operands{as.final(graph), bs.final(graph)};
  const BlockProduct first{.op_b = Op::conjugate_transpose,
                           .a = range(a, rows_ * inner_),
                           .b = range(kj, columns_ * inner_),
                           .c = range(c, rows_ * columns_),
                           .rows = rows_,
                           .inner = inner_,
                           .columns = columns_};
  const auto multiplied = first.append(graph, {phase, 0, 0}, products(), std::move(operands));

  // The sum to P(i, i, k).
  const Stream partial = after(lines_.cut(rows_ * columns_, phase + 1), multiplied);
  const Stream squares = lines_.reduce(graph, *along_j_, me_.row, partial, c, d2);
  const Reducer of_row = [](int i, int) { return i; };
  const Reducer of_column = [](int, int k) { return k; };
  if (powers == Powers::square) {
    send_home(graph, of_row, squares, d2, {slots.d2}, 2 * (phase + 1));
    return;
  }

  // From there D²(j, k) to P(:, j, k).
  const bool has_jk = me_.row == me_.column;
  const Place jk = has_jk ? d2 : received;
  const Stream coming = after(lines_.cut(inner_ * columns_, phase + 1 + hops), multiplied);
  const Stream square_blocks = lines_.broadcast(graph, *along_i_, me_.column, has_jk ? squares : coming, jk);
  BlockProduct second = first;
  second.op_b = Op::identity;
  second.b = range(jk, inner_ * columns_);
  const Index home = 2 * (phase + 1);
  const auto cubed = second.append(graph, {home, 0, 0}, products(),
                                   {square_blocks.final(graph), squares.final(graph), as.final(graph)});

  // The sum to P(i, k, k), while D² goes home.
  const Stream cube_partial = after(lines_.cut(rows_ * columns_, home + 1), cubed);
  const Stream cube_blocks = lines_.reduce(graph, *along_j_, me_.layer, cube_partial, c, d3);
  send_home(graph, of_row, squares, d2, {slots.d2}, home + 1);
  send_home(graph, of_column, cube_blocks, d3, {slots.d3}, home + 1 + hops);
}

}  // namespace

std::unique_ptr<Plan> make_overlapped(mpi::Context& context, const Grid& mesh, const Products& products,
                                      const Options& options) {
  return std::make_unique<Overlapped>(context, mesh, products, options);
}

}  // namespace plait::dense::symm
