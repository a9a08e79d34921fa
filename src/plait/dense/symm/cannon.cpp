#include <array>
#include <optional>
#include <utility>

#include "plait/base/rounding.hpp"
#include "plait/collective/stream.hpp"
#include "plait/dense/symm/plan.hpp"
#include "plait/dense/symm/scheduled.hpp"

namespace plait::dense::symm {

namespace {

using collective::Segment;
using schedule::Dependencies;
using schedule::OperationId;
using schedule::Range;

/// Algorithm 6: two 2.5D products on a mesh of q × q × c ranks. Each of the c layers has all blocks of D, and makes its
/// share of the q steps of Cannon's algorithm: the k-th one those from qk/c on, rounded down. What comes for the next
/// step does so while this one is multiplied.
class Cannon final : public Scheduled {
 public:
  /// Collective over the context.
  Cannon(mpi::Context& context, const Grid& mesh, const Products& products, const Options& options);

 private:
  using Stream = collective::Stream;

  void build(Graph& graph, const Slots& slots, Powers powers) override;
  [[nodiscard]] int strands() const noexcept override { return lines_.strands(); }
  [[nodiscard]] Index workspace_elements() const override;

  // A block that is at (i, j), and when it is there.
  struct At {
    Place place;
    Stream stream;
  };
  struct Buffers {
    std::array<Place, 2> a, b;
    Place c;
  };
  /// C ← this layer's part of A·B, whose blocks (i, j) are at (i, j). C is final after the operation.
  /// \param in_use  after these the buffers may be written to; becomes what this leaves behind
  [[nodiscard]] schedule::OperationId multiply(Graph& graph, const At& a, const At& b, const Buffers& buffers,
                                               Index first_stage, schedule::Dependencies& in_use) const;
  [[nodiscard]] Index stages_of_product() const;
  [[nodiscard]] int wrapped(int index) const noexcept {
    return (index % mesh().edge() + mesh().edge()) % mesh().edge();
  }
  [[nodiscard]] int first_step(int layer) const noexcept {
    return static_cast<int>(Index{mesh().edge()} * layer / mesh().layers);
  }

  Lines lines_;
  layout::GridPlace me_;
  Index rows_ = 0, columns_ = 0;
  std::optional<Lines::Line> along_k_;
};

Cannon::Cannon(mpi::Context& context, const Grid& mesh, const Products& products, const Options& options)
    : Scheduled(context, mesh, products, options), lines_(context, products, options, segment_elements()) {
  if (!mesh.contains(context.rank())) return;
  me_ = mesh.place(context.rank());
  rows_ = mesh.extent(me_.row), columns_ = mesh.extent(me_.column);
  along_k_ = lines_.line(mesh.ranks_of_layers(me_.row, me_.column));
}

// D(i, j), the sum of layers, C; two blocks of A and two of B, of which one is used while the other one comes.
Index Cannon::workspace_elements() const {
  const Index longest = mesh().extent(0);
  return 3 * rows_ * columns_ + 2 * longest * (rows_ + columns_);
}

// The blocks get into place, then move by one for each further step.
Index Cannon::stages_of_product() const {
  const Index steps = quotient_up(mesh().edge(), mesh().layers);
  return (steps + 1) * (lines_.stages(mesh().most_elements()) + 1);
}

OperationId Cannon::multiply(Graph& graph, const At& a, const At& b, const Buffers& buffers, Index first_stage,
                             Dependencies& in_use) const {
  const auto& [i, j, k] = me_;
  const Index stages = lines_.stages(mesh().most_elements()) + 1;
  const int first = first_step(k);
  const int steps = first_step(k + 1) - first;

  // One block of A or B: from where it is to where it is needed.
  struct Moved {
    At at;
    OperationId sent{};
  };
  const auto move = [&](Moved& moved, Index elements, int to, int from, Place place, Index coming, Index stage,
                        const Dependencies& free) {
    const Stream out = lines_.cut(elements, stage);
    const Stream in = lines_.cut(coming, stage);
    std::vector<Segment> arrived = in.segments();
    Dependencies sends;
    const bool stays = to == context().rank();
    for (std::size_t s = 0; s < out.segments().size(); ++s) {
      const Segment& segment = out.segments()[s];
      const Range range = out.range(moved.at.place, segment);
      const Dependencies& final = moved.at.stream.segments()[s].final;
      if (stays) {
        Dependencies after = final;
        collective::append(after, free);
        arrived[s].final = {
            collective::own_copy(graph, segment.position(), range, out.range(place, segment), std::move(after))};
      } else {
        sends.push_back(graph.send(segment.position(), to, range, final));
      }
    }
    if (!stays) {
      for (Segment& segment : arrived)
        segment.final = {graph.receive(segment.position(), from, in.range(place, segment), free)};
    }
    const OperationId sent = graph.compute({stage + stages - 1, 0, 0}, 0, {}, {}, std::move(sends));
    moved = {{place, {in.element_bytes(), std::move(arrived)}}, sent};
  };

  Moved moving_a{a, {}};
  Moved moving_b{b, {}};
  std::array<Dependencies, 2> free{in_use, in_use};  // when the buffers may be written to
  Dependencies summed = in_use;
  OperationId last{};
  for (int step = 0; step < steps; ++step) {
    const int inner = wrapped(i + j + first + step);
    const Index stage = first_stage + step * stages;
    const auto buffer = static_cast<std::size_t>(step % 2);
    const Index extent = mesh().extent(inner);
    const Index was_a = step == 0 ? columns_ : mesh().extent(wrapped(inner - 1));
    const Index was_b = step == 0 ? rows_ : mesh().extent(wrapped(inner - 1));
    const int by = first + i, down = first + j;
    const int to_j = step == 0 ? wrapped(j - by) : wrapped(j - 1);
    const int from_j = step == 0 ? inner : wrapped(j + 1);
    const int to_i = step == 0 ? wrapped(i - down) : wrapped(i - 1);
    const int from_i = step == 0 ? inner : wrapped(i + 1);
    move(moving_a, rows_ * was_a, mesh().rank(i, to_j, k), mesh().rank(i, from_j, k), buffers.a[buffer], rows_ * extent,
         stage, free[buffer]);
    move(moving_b, was_b * columns_, mesh().rank(to_i, j, k), mesh().rank(from_i, j, k), buffers.b[buffer],
         extent * columns_, stage, free[buffer]);
    // What was read for this move may be overwritten after it.
    free[1 - buffer].push_back(moving_a.sent);
    free[1 - buffer].push_back(moving_b.sent);

    Dependencies operands = summed;
    for (const Stream* stream : {&moving_a.at.stream, &moving_b.at.stream}) {
      for (const Segment& segment : stream->segments()) collective::append(operands, segment.final);
    }
    const auto range = [&](Place place, Index elements) { return Range{place.slot, place.offset, bytes(elements)}; };
    const BlockProduct product{.a = range(buffers.a[buffer], rows_ * extent),
                               .b = range(buffers.b[buffer], extent * columns_),
                               .c = range(buffers.c, rows_ * columns_),
                               .rows = rows_,
                               .inner = extent,
                               .columns = columns_,
                               .adds = step > 0};
    last = product.append(graph, {stage + stages - 1, 0, 0}, products(), std::move(operands));
    free[buffer] = {last};
    summed = {last};
  }
  in_use = {last, moving_a.sent, moving_b.sent};
  return last;
}

void Cannon::build(Graph& graph, const Slots& slots, Powers powers) {
  Index offset = 0;
  const auto take = [&](Index elements) {
    const Place place{slots.workspace, offset};
    offset += bytes(elements);
    return place;
  };
  const Index longest = mesh().extent(0);
  const Index elements = rows_ * columns_;
  const bool is_home = me_.layer == 0;
  const Place d = is_home ? Place{slots.d} : take(elements);
  const Place d2 = is_home ? Place{slots.d2} : take(elements);
  const Buffers buffers{{take(rows_ * longest), take(rows_ * longest)},
                        {take(columns_ * longest), take(columns_ * longest)},
                        take(elements)};
  const Index block = lines_.stages(mesh().most_elements()) + 1;

  const Stream ds = lines_.broadcast(graph, *along_k_, 0, lines_.cut(elements, 0), d);
  const Index first = block + lines_.stages_of_collective(mesh().layers);
  Dependencies in_use;
  const auto squared = multiply(graph, {d, ds}, {d, ds}, buffers, first, in_use);
  const Index sum = first + stages_of_product();
  const Stream partial = after(lines_.cut(elements, sum), squared);
  if (powers == Powers::square) {
    static_cast<void>(lines_.reduce(graph, *along_k_, 0, partial, buffers.c, d2));
    return;
  }
  const Stream squares = lines_.allreduce(graph, *along_k_, partial, buffers.c, d2);
  const Index second = sum + block + lines_.most_stages_of_allreduce(mesh().layers);
  in_use.push_back(squares.final(graph));
  const auto cubed = multiply(graph, {d, ds}, {d2, squares}, buffers, second, in_use);
  const Stream cube_partial = after(lines_.cut(elements, second + stages_of_product()), cubed);
  static_cast<void>(lines_.reduce(graph, *along_k_, 0, cube_partial, buffers.c, {slots.d3}));
}

}  // namespace

std::unique_ptr<Plan> make_cannon(mpi::Context& context, const Grid& mesh, const Products& products,
                                  const Options& options) {
  return std::make_unique<Cannon>(context, mesh, products, options);
}

}  // namespace plait::dense::symm
