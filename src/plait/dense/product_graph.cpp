#include "plait/dense/product_graph.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "plait/base/rounding.hpp"
#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/algorithm/to_all.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/dense/panels.hpp"
#include "plait/simd/reduce/reduce.hpp"

namespace plait::dense {

namespace {

using collective::Group;
using collective::Place;
using collective::Stream;
using schedule::Dependencies;
using schedule::Graph;
using schedule::PoolId;
using schedule::Position;
using schedule::Run;
using schedule::SlotId;
using schedule::Slots;

constexpr int a_strand = 0;
constexpr int b_strand = 1;

// What is multiplied at a time, before communication is looked after again: some milliseconds' worth, as much as BLAS
// needs to be as fast as it gets. It packs its operands in each call again, which is what short calls suffer from.
constexpr Index step_rows = 2048;
constexpr Index step_terms = 256;
constexpr double step_flops = 2.7e8;
constexpr Index least_step_columns = 64;

class Builder {
 public:
  Builder(const mpi::Context& context, const Arrangement& arrangement, const Cut& cut, const ElementKind& kind,
          int role, const std::vector<int>& rank_of)
      : context_(context),
        arrangement_(arrangement),
        cut_(cut),
        kind_(kind),
        me_(arrangement.mesh().place(role)),
        rank_of_(rank_of),
        graph_(2),
        a_(graph_.input(a_travels(arrangement) ? tile_elements(arrangement, role).a * kind.bytes : 0)),
        b_(graph_.input(b_travels(arrangement) ? tile_elements(arrangement, role).b * kind.bytes : 0)),
        c_(graph_.output(arrangement.mesh().layers > 1 ? tile_elements(arrangement, role).c * kind.bytes : 0)),
        rows_(arrangement.rows(me_.row).length()),
        columns_(arrangement.columns(me_.column).length()) {}

  Graph build() && {
    if (goes_in_panels(arrangement_)) {
      add_summa();
    } else {
      add_rounds();
    }
    if (multiplied_.empty()) add_zeros();
    if (arrangement_.mesh().layers > 1) add_sum_over_layers();
    return std::move(graph_);
  }

 private:
  [[nodiscard]] Group group(int size, const std::function<GridPlace(int)>& place) const {
    std::vector<int> ranks;
    ranks.reserve(at(size));
    for (int i = 0; i < size; ++i) ranks.push_back(rank_of(place(i)));
    return {context_, std::move(ranks)};
  }
  [[nodiscard]] int rank_of(const GridPlace& place) const {
    return rank_of_[static_cast<std::size_t>(arrangement_.mesh().rank(place))];
  }

  void add_summa() {
    const ProcessGrid& mesh = arrangement_.mesh();
    const Group row = group(mesh.columns, [this](int i) { return GridPlace{me_.row, i, me_.layer}; });
    const Group column = group(mesh.rows, [this](int i) { return GridPlace{i, me_.column, me_.layer}; });
    const SummaTimes times = summa_times(arrangement_, cut_, me_);
    const PoolId a_pool = graph_.pool(longest_panel(times.a) * kind_.bytes, blocks_for_panels(times.a));
    const PoolId b_pool = graph_.pool(longest_panel(times.b) * kind_.bytes, blocks_for_panels(times.b));
    const Index stages = stages_of_panel(arrangement_, cut_);

    for (std::size_t p = 0; p < times.panels.size(); ++p) {
      const Panel& panel = times.panels[p];
      const Index begin = static_cast<Index>(p) * stages;
      const Place a = panel.a_part == me_.column ? own(a_, rows_, panel.a_begin) : staged(a_pool, rows_);
      const Place b = panel.b_part == me_.row ? own(b_, columns_, panel.b_begin) : staged(b_pool, columns_);
      Dependencies ready;
      add_broadcast(row, panel.a_part, {a, rows_ * panel.terms, a_strand, cut_.a_segment, begin}, ready);
      add_broadcast(column, panel.b_part, {b, columns_ * panel.terms, b_strand, cut_.b_segment, begin}, ready);
      add_multiply(times.multiplied[p], panel.terms, a, b, std::move(ready));
    }
  }

  [[nodiscard]] Place own(SlotId tile, Index line, Index first_term) const {
    return {tile, first_term * line * kind_.bytes};
  }
  // A panel without elements needs no memory.
  [[nodiscard]] Place staged(PoolId pool, Index line) { return {line == 0 ? a_ : graph_.staging(pool)}; }

  struct Panelled {
    Place place;
    Index elements;
    int strand;
    Index segment;
    Index stage;
  };
  void add_broadcast(const Group& group, int root, const Panelled& panel, Dependencies& ready) {
    if (group.size() == 1 || panel.elements == 0) return;
    std::vector<collective::Segment> segments = Stream::cut(panel.elements, kind_.bytes, 1, panel.segment).segments();
    for (collective::Segment& segment : segments) {
      segment.strand = panel.strand;
      segment.stage += panel.stage;
    }
    const Stream come = broadcast_chain(graph_, group, root, Stream(kind_.bytes, std::move(segments)), panel.place);
    for (const collective::Segment& segment : come.segments()) collective::append(ready, segment.final);
  }

  // Cannon and rings: in round s a rank multiplies the parts of number `own + s`.
  void add_rounds() {
    const ProcessGrid& mesh = arrangement_.mesh();
    const int rounds = std::max(mesh.rows, mesh.columns);
    const bool a_goes = a_travels(arrangement_);
    const bool b_goes = b_travels(arrangement_);
    const int first = a_goes ? arrangement_.a_part(me_) : arrangement_.b_part(me_);
    std::vector<Span> parts;
    parts.reserve(at(rounds));
    for (int part = 0; part < rounds; ++part) {
      parts.push_back(a_goes ? arrangement_.a_terms(me_.layer, part) : arrangement_.b_terms(me_.layer, part));
    }
    const auto around = [](int index, int step, int size) { return (index + step + size) % size; };
    Travel a{a_,
             rows_,
             a_strand,
             a_goes,
             {},
             rank_of({me_.row, around(me_.column, -1, mesh.columns), me_.layer}),
             rank_of({me_.row, around(me_.column, 1, mesh.columns), me_.layer}),
             {}};
    Travel b{b_,
             columns_,
             b_strand,
             b_goes,
             {},
             rank_of({around(me_.row, -1, mesh.rows), me_.column, me_.layer}),
             rank_of({around(me_.row, 1, mesh.rows), me_.column, me_.layer}),
             {}};
    Index longest_part = 0;
    for (const Span& part : parts) longest_part = std::max(longest_part, part.length());
    for (Travel* matrix : {&a, &b}) {
      if (matrix->travels) matrix->pool = graph_.pool(longest_part * matrix->line * kind_.bytes, round_blocks(rounds));
      matrix->place = {matrix->tile};
    }
    for (int round = 0; round < rounds; ++round) {
      const Span& part = parts[static_cast<std::size_t>((first + round) % rounds)];
      const Span& next = parts[static_cast<std::size_t>((first + round + 1) % rounds)];
      Dependencies ready;
      std::array<Place, 2> places{Place{a_}, Place{b_}};
      for (const auto& [matrix, place] : {std::pair{&a, &places[0]}, std::pair{&b, &places[1]}}) {
        collective::append(ready, matrix->come);
        *place = matrix->travels ? matrix->place : own(matrix->tile, matrix->line, part.begin - whole().begin);
        if (matrix->travels && round + 1 < rounds) pass_on(*matrix, round, part, next);
      }
      add_multiply(round, part.length(), places[0], places[1], std::move(ready));
    }
  }

  static Index round_blocks(int rounds) { return std::clamp(rounds - 1, 1, 2); }
  [[nodiscard]] Span whole() const { return arrangement_.terms(me_.layer); }

  struct Travel {
    SlotId tile;
    Index line;  // elements of a term
    int strand;
    bool travels;
    PoolId pool;
    int to, from;
    Dependencies come;  // after which the part is there
    Place place{};      // where it is
  };
  void pass_on(Travel& matrix, Index round, const Span& part, const Span& next) {
    const Position position{round, matrix.strand, round};
    const auto bytes = [&](const Span& terms) { return terms.length() * matrix.line * kind_.bytes; };
    // Parts without elements need neither a message nor memory.
    if (bytes(part) > 0) {
      graph_.send(position, matrix.to, {matrix.place.slot, matrix.place.offset, bytes(part)}, matrix.come);
    }
    matrix.place = {matrix.tile};
    matrix.come = {};
    if (bytes(next) == 0) return;
    matrix.place = {graph_.staging(matrix.pool)};
    matrix.come = {graph_.receive(position, matrix.from, {matrix.place.slot, 0, bytes(next)})};
  }

  /// Where a factor of a panel (a part) lies: the terms from `first_term` on of the rank's tile, or all of what came.
  struct Source {
    Place place;
    bool is_own;
    Index first_term;
  };
  [[nodiscard]] Source source_of(SlotId tile, Place place, Index line) const {
    const bool is_own = place.slot == tile;
    return {place, is_own, is_own ? place.offset / (line * kind_.bytes) : 0};
  }

  /// Pieces of nearly equal length, but for the last: multiples of what vector kernels deal with at a time.
  static Index even_length(Index extent, Index most) {
    constexpr Index multiple = 16;
    const Index count = quotient_up(extent, most);
    return std::max(Index{1}, std::min(extent, rounded_up(quotient_up(extent, count), multiple)));
  }

  void add_multiply(Index stage, Index terms, Place a_place, Place b_place, Dependencies after) {
    if (rows_ == 0 || columns_ == 0 || terms == 0) return;
    const bool adds = !multiplied_.empty();
    collective::append(after, multiplied_);
    const Index height = even_length(rows_, step_rows);
    const Index depth = even_length(terms, step_terms);
    const double flops_of_column = kind_.flops * static_cast<double>(height) * static_cast<double>(depth);
    const auto columns_of_step = std::min(step_flops / flops_of_column, static_cast<double>(columns_));
    const Index width = even_length(columns_, std::max(least_step_columns, static_cast<Index>(columns_of_step)));
    const Index down = quotient_up(rows_, height);
    const Index across = quotient_up(columns_, width);
    const Source a = source_of(a_, a_place, rows_);
    const Source b = source_of(b_, b_place, columns_);
    const auto multiply = [=, kind = kind_, rows = rows_, columns = columns_](const Run& run, Index step) {
      const auto& given = run.arguments<ProductArguments>();
      const Index row = step % down * height;
      const Index column = step / down % across * width;
      const Index term = step / down / across * depth;
      const LocalFactor all_a =
          a.is_own ? given.a : LocalFactor{run.address(a.place.slot, a.place.offset), rows, StorageOrder::column_major};
      const LocalFactor all_b =
          b.is_own ? given.b : LocalFactor{run.address(b.place.slot, b.place.offset), columns, StorageOrder::row_major};
      const LocalFactor c = LocalFactor{given.c, given.c_stride, given.c_order}.from(row, column, kind.bytes);
      kind.multiply({.rows = std::min(height, rows - row),
                     .columns = std::min(width, columns - column),
                     .terms = std::min(depth, terms - term),
                     .a = all_a.from(row, a.first_term + term, kind.bytes),
                     .b = all_b.from(b.first_term + term, column, kind.bytes),
                     .c = const_cast<std::byte*>(c.data),
                     .c_stride = given.c_stride,
                     .c_order = given.c_order,
                     .alpha = given.alpha,
                     .beta = adds || term > 0 ? nullptr : given.beta});
    };
    last_stage_ = std::max(last_stage_, stage);
    const Index steps = quotient_up(terms, depth) * across * down;
    const Slots uses{a_place.slot, b_place.slot, c_};
    multiplied_ = {graph_.compute({stage, b_strand, stage}, steps, multiply, uses, std::move(after))};
  }

  // A sum of no terms.
  void add_zeros() {
    if (rows_ == 0 || columns_ == 0) return;
    const auto scale = [kind = kind_, rows = rows_, columns = columns_](const Run& run, Index) {
      const auto& given = run.arguments<ProductArguments>();
      kind.multiply({.rows = rows,
                     .columns = columns,
                     .terms = 0,
                     .a = {},
                     .b = {},
                     .c = given.c,
                     .c_stride = given.c_stride,
                     .c_order = given.c_order,
                     .alpha = given.alpha,
                     .beta = given.beta});
    };
    multiplied_ = {graph_.compute({}, 1, scale, {c_})};
  }

  // In place: what is this layer's comes to lie where it belongs.
  void add_sum_over_layers() {
    const ProcessGrid& mesh = arrangement_.mesh();
    const Group layers = group(mesh.layers, [this](int i) { return GridPlace{me_.row, me_.column, i}; });
    std::vector<Index> counts;
    counts.reserve(at(mesh.layers));
    for (int layer = 0; layer < mesh.layers; ++layer) {
      counts.push_back(arrangement_.final_columns(me_.column, layer).length() * rows_);
    }
    collective::Blocks blocks = collective::Blocks::cut(counts, kind_.bytes, 1, cut_.c_segment);
    const Index begin = last_stage_of_all() + 1;
    for (collective::Chunk& chunk : blocks.chunks()) {
      for (collective::Segment& piece : chunk) {
        piece.stage += begin;
        piece.final = multiplied_;
      }
    }
    const schedule::Combine sum(simd::ReduceOperation::sum, kind_.element);
    static_cast<void>(collective::reduce_scatter_ring(graph_, layers, std::move(blocks), {{c_}, {c_}, sum}));
  }

  // Layers may have different numbers of panels.
  [[nodiscard]] Index last_stage_of_all() const {
    const ProcessGrid& mesh = arrangement_.mesh();
    if (!goes_in_panels(arrangement_)) return std::max(mesh.rows, mesh.columns);
    std::size_t most = 0;
    for (const int layer : {0, mesh.layers - 1}) {
      most = std::max(most, panels(arrangement_, layer, cut_.panel_terms).size());
    }
    return static_cast<Index>(most) * stages_of_panel(arrangement_, cut_) + mesh.rows + mesh.columns;
  }

  const mpi::Context& context_;
  const Arrangement& arrangement_;
  const Cut& cut_;
  const ElementKind& kind_;
  GridPlace me_;
  const std::vector<int>& rank_of_;
  Graph graph_;
  SlotId a_, b_, c_;
  Index rows_, columns_;
  Dependencies multiplied_;  // the last product
  Index last_stage_ = 0;
};

}  // namespace

bool a_travels(const Arrangement& arrangement) noexcept { return arrangement.mesh().columns > 1; }
bool b_travels(const Arrangement& arrangement) noexcept { return arrangement.mesh().rows > 1; }

Graph product_graph(const mpi::Context& context, const Arrangement& arrangement, const Cut& cut,
                    const ElementKind& kind, int role, const std::vector<int>& rank_of) {
  if (role < arrangement.mesh().ranks()) return Builder(context, arrangement, cut, kind, role, rank_of).build();
  Graph idle(2);
  for (int i = 0; i < 2; ++i) static_cast<void>(idle.input(0));
  static_cast<void>(idle.output(0));
  return idle;
}

}  // namespace plait::dense
