#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "plait/collective/algorithm/rooted.hpp"
#include "plait/collective/group.hpp"
#include "plait/collective/stream.hpp"
#include "plait/dense/symm/pairing.hpp"
#include "plait/dense/symm/panels.hpp"
#include "plait/dense/symm/plan.hpp"
#include "plait/dense/symm/scheduled.hpp"

namespace plait::dense::symm {

namespace {

using collective::Group;
using collective::Place;
using collective::Segment;
using schedule::Dependencies;
using schedule::Graph;
using schedule::OperationId;
using schedule::Position;
using schedule::Range;

constexpr std::array halves{Half::first, Half::last};

Index elements_of(const Panels& panels) { return panels.empty() ? 0 : panels.back().end(); }

/// What one rank appends. It is at (i, j, k), and has terms of X(a, b): of its own columns, a leading b; or a == b.
class MirroredGraph {
 public:
  MirroredGraph(const mpi::Context& context, const Pairing& pairing, const Products& products, const PanelCut& cut,
                Graph& graph)
      : context_(context), pairing_(pairing), products_(products), cut_(cut), graph_(graph) {
    const Grid& mesh = pairing.mesh();
    const layout::GridPlace me = pairing.place(context.rank());
    j_ = me.column, a_ = pairing.row(me.row, me.layer), b_ = pairing.column(me.row, me.layer);
    half_ = me.row == a_ ? Half::first : Half::last;
    is_home_ = a_ == b_;
    rows_ = mesh.extent(a_), columns_ = mesh.extent(b_), inner_ = mesh.extent(j_);
    sum_ranks_ = pairing.ranks_of_sum(me.row, me.layer);
    find_stages();
  }

  [[nodiscard]] Index workspace_elements() const {
    if (is_home_) return elements_of(term(0)) + (is_mirrored_home() ? rows_ * inner_ : 0);
    return inner_ * rows_ + (inner_ + rows_) * ((columns_ + 1) / 2);
  }

  void build(Place d, Place d2, Place d3, Place workspace, Powers powers) {
    place_operands(d, workspace);
    const Panels row = broadcast_row();
    for (const Panel& panel : row) collective::append(row_final_, panel.finals());
    const std::vector<int> row_ranks = pairing_.ranks_of_row(a_, j_);
    if (row_ranks.back() == context_.rank()) send_columns(row, row_place_);
    Panels columns = row;
    if (!is_home_) {
      const int source = pairing_.ranks_of_row(b_, j_).back();
      columns = receive_columns(source, of_half(cut_.rectangle(inner_, cut_.panels(columns_), first_columns_)));
    }
    Panels sums = term(first_sums_);
    sum_up(columns, is_home_ ? row_place_ : column_place_, sums);
    const Panels home = bring_home(sums, first_sums_, d2);
    if (powers == Powers::square) return;

    if (is_home_) {
      send_columns(home, d2);
    } else {
      const Index stage = pairing_.leads(j_, b_) ? direct_columns_ : other_columns_;
      Panels coming = cut_.rectangle(inner_, cut_.panels(columns_, half_), stage);
      for (std::size_t q = 0; q < coming.size(); ++q) coming[q].overwrites(columns_read_[q]);
      columns = receive_columns(pairing_.rank(b_, j_, b_), std::move(coming));
    }
    Panels second = term(second_sums_);
    for (std::size_t q = 0; q < second.size(); ++q) second[q].overwrites(sums[q].finals_and_readers());
    sum_up(is_home_ ? home : columns, is_home_ ? d2 : column_place_, second);
    static_cast<void>(bring_home(second, second_sums_, d3));
  }

 private:
  [[nodiscard]] int edge() const { return pairing_.mesh().edge(); }
  // X(j, a) comes as X(a, j).
  [[nodiscard]] bool is_mirrored_home() const { return is_home_ && pairing_.leads(a_, j_); }

  void find_stages() {
    const PanelCut::Most most = cut_.most(pairing_.mesh());
    const Index hops = edge() - 1;
    first_columns_ = pairing_.most_ranks_of_row() - 1;
    first_sums_ = first_columns_ + most.of_block + pairing_.most_ranks_of_columns() + 1;
    // Where X(j, b) itself comes home, its columns may set out one by one; otherwise, when all are there.
    direct_columns_ = first_sums_ + hops + 2;
    other_columns_ = first_sums_ + most.of_sum + hops + 2;
    second_sums_ = other_columns_ + most.of_half + pairing_.most_ranks_of_columns() + 2;
  }

  // The panels of columns are where they would be if the whole block were there.
  void place_operands(Place d, Place workspace) {
    const auto take = [&](Index elements, Index skipped) {
      const Place place{workspace.slot, workspace.offset - skipped * products_.element_bytes()};
      workspace.offset += elements * products_.element_bytes();
      return place;
    };
    const Index middle = (columns_ + 1) / 2;
    const Index skipped = half_ == Half::last ? middle : 0;
    row_place_ = is_home_ ? d : take(inner_ * rows_, 0);
    if (is_home_) {
      sum_place_ = take(elements_of(term(0)), 0);
      mirrored_place_ = workspace;
    } else {
      column_place_ = take(inner_ * middle, inner_ * skipped);
      sum_place_ = take(rows_ * middle, rows_ * skipped);
    }
    const Panels sums = term(0);
    std::vector<Segment> segments;
    for (const Panel& panel : sums) {
      const auto& own = panel.stream.segments();
      segments.insert(segments.end(), own.begin(), own.end());
    }
    const collective::Stream all(products_.element_bytes(), std::move(segments));
    // Neighbouring panels end on neighbouring ranks, so that some more are held at a time.
    staging_ = graph_.pool(edge() > 1 ? all.longest_bytes() : 0, collective::staged_blocks(all, 1) + edge() + 4);
  }

  // What this rank computes.
  [[nodiscard]] Panels term(Index stage) const {
    return is_home_ ? cut_.triangle(rows_, cut_.panels(rows_), stage)
                    : cut_.rectangle(rows_, cut_.panels(columns_, half_), stage);
  }
  [[nodiscard]] Panels of_half(Panels panels) const {
    std::erase_if(panels,
                  [&](const Panel& panel) { return (panel.first < (columns_ + 1) / 2) != (half_ == Half::first); });
    return panels;
  }

  [[nodiscard]] Panels broadcast_row() {
    const Group group(context_, pairing_.ranks_of_row(a_, j_), pairing_.most_ranks_of_row());
    Panels row = cut_.rectangle(inner_, cut_.panels(rows_), 0);
    for (Panel& panel : row) panel.stream = collective::broadcast_chain(graph_, group, 0, panel.stream, row_place_);
    return row;
  }

  [[nodiscard]] Group column_group(int source, int b, Half half) const {
    std::vector<int> ranks{source};
    const std::vector<int> others =
        half == Half::first ? pairing_.ranks_of_first_columns(j_, b) : pairing_.ranks_of_last_columns(j_, b);
    ranks.insert(ranks.end(), others.begin(), others.end());
    return {context_, std::move(ranks), pairing_.most_ranks_of_columns()};
  }

  // X(j, a), which is here.
  void send_columns(const Panels& panels, Place block) {
    const Index middle = (rows_ + 1) / 2;
    for (const Half half : halves) {
      const Group group = column_group(context_.rank(), a_, half);
      for (const Panel& panel : panels) {
        if ((panel.first < middle) == (half == Half::first))
          static_cast<void>(collective::broadcast_chain(graph_, group, 0, panel.stream, block));
      }
    }
  }

  [[nodiscard]] Panels receive_columns(int source, Panels panels) {
    const Group group = column_group(source, b_, half_);
    for (Panel& panel : panels)
      panel.stream = collective::broadcast_chain(graph_, group, 0, panel.stream, column_place_);
    return panels;
  }

  [[nodiscard]] Range range(Place place, Index begin, Index end) const {
    return {place.slot, place.offset + begin * products_.element_bytes(), (end - begin) * products_.element_bytes()};
  }

  // At which j a panel's sum is complete: for triangles at home, for others not always at the same, which sends twice.
  [[nodiscard]] int last_of_sum(std::size_t panel, Half half) const {
    return static_cast<int>((panel + (half == Half::last ? 1 : 0)) % static_cast<std::size_t>(edge()));
  }

  // sums ← D(j, a)ᴴ·X(j, b), all terms of it; complete on one of the ranks.
  void sum_up(const Panels& columns, Place column_place, Panels& sums) {
    const Group group(context_, sum_ranks_);
    columns_read_.assign(sums.size(), {});
    for (std::size_t q = 0; q < sums.size(); ++q) {
      Panel& sum = sums[q];
      if (sum.is_empty()) continue;
      const Index skipped = is_home_ ? sum.first : 0;  // rows above the diagonal
      const BlockProduct product{
          .op_a = Op::conjugate_transpose,
          .a = range(row_place_, skipped * inner_, rows_ * inner_),
          .b = range(column_place, sum.first * inner_, sum.last * inner_),
          .c = range(sum_place_, sum.begin(), sum.end()),
          .rows = rows_ - skipped,
          .inner = inner_,
          .columns = sum.last - sum.first,
      };
      Dependencies after = row_final_;
      collective::append(after, columns[q].finals());
      collective::append(after, sum.finals_and_readers());
      const OperationId multiplied =
          product.append(graph_, {sum.stream.segments().front().stage, 0, 0}, products_, std::move(after));
      columns_read_[q] = columns[q].finals_and_readers();
      columns_read_[q].push_back(multiplied);
      sum.becomes(multiplied);
      const int root = is_home_ ? a_ : last_of_sum(q, half_);
      sum.stream = collective::reduce_chain(graph_, group, root, sum.stream,
                                            {sum_place_, sum_place_, products_.combine}, staging_);
      if (!is_home_ && root == j_) send_home(sum);
    }
  }

  void send_home(Panel& sum) {
    sum.for_each_segment([&](Segment& segment) {
      const Range own = sum.stream.range(sum_place_, segment);
      for (const int to : {pairing_.rank(b_, a_, b_), pairing_.rank(a_, b_, a_)})
        segment.readers.push_back(graph_.send(segment.position(), to, own, segment.final));
    });
  }

  // X(j, a) at its home, panel by panel, with the stages at which they move on.
  [[nodiscard]] Panels bring_home(Panels& sums, Index stage, Place home) {
    if (!is_home_) return {};
    const Index arrival = stage + edge() - 1;
    if (a_ == j_) return mirror_triangle(sums, home);
    return is_mirrored_home() ? receive_mirrored(arrival, home) : receive_direct(arrival, home);
  }

  [[nodiscard]] Panels mirror_triangle(Panels& sums, Place home) {
    Panels result = cut_.halves(rows_, rows_, other_columns_);
    Dependencies before;
    for (std::size_t q = 0; q < sums.size(); ++q) {
      Panel& sum = sums[q];
      if (sum.is_empty()) continue;
      const auto mirror = [&products = products_, n = rows_, home, panel = range(sum_place_, sum.begin(), sum.end()),
                           first = sum.first, last = sum.last](const schedule::Run& run, Index) {
        products.mirror_lower(n, first, last, run.address(panel.slot, panel.offset),
                              run.address(home.slot, home.offset));
      };
      Dependencies after = sum.finals();
      collective::append(after, before);  // the columns so far are complete
      const Position position = sum.stream.segments().back().position();
      const OperationId mirrored = graph_.compute(position, 1, mirror, {home.slot, sum_place_.slot}, std::move(after));
      sum.is_read_by(mirrored);
      before = {mirrored};
      result[q].becomes(mirrored);
    }
    return result;
  }

  [[nodiscard]] Panels receive_direct(Index arrival, Place home) {
    Panels result;
    for (const Half half : halves) {
      Panels panels = cut_.rectangle(inner_, cut_.panels(rows_, half), arrival);
      for (std::size_t q = 0; q < panels.size(); ++q) {
        const int last = last_of_sum(q, half);
        const int from = half == Half::first ? pairing_.rank(j_, last, a_) : pairing_.rank(a_, last, j_);
        receive(panels[q], from, home, {});
        panels[q].for_each_segment([&](Segment& segment) { segment.stage = direct_columns_ + segment.number; });
        result.push_back(std::move(panels[q]));
      }
    }
    return result;
  }

  [[nodiscard]] Panels receive_mirrored(Index arrival, Place home) {
    Dependencies all;
    for (const Half half : halves) {
      Panels panels = cut_.rectangle(rows_, cut_.panels(inner_, half), arrival);
      for (std::size_t q = 0; q < panels.size(); ++q) {
        Panel& panel = panels[q];
        if (panel.is_empty()) continue;
        const int last = last_of_sum(q, half);
        const int from = half == Half::first ? pairing_.rank(a_, last, j_) : pairing_.rank(j_, last, a_);
        receive(panel, from, mirrored_place_, mirrored_read_);
        const auto mirror = [&products = products_, place = range(mirrored_place_, panel.begin(), panel.end()), home,
                             rows = rows_, first = panel.first, columns = panel.last - panel.first,
                             inner = inner_](const schedule::Run& run, Index) {
          std::byte* const to = run.address(home.slot, home.offset) + first * products.element_bytes();
          products.mirror(rows, columns, run.address(place.slot, place.offset), to, inner);
        };
        all.push_back(graph_.compute(panel.stream.segments().back().position(), 1, mirror,
                                     {home.slot, mirrored_place_.slot}, panel.finals()));
      }
    }
    mirrored_read_ = all;
    Panels result = cut_.halves(inner_, rows_, other_columns_);
    const OperationId complete = graph_.compute({arrival + most_of_sum(), 0, 0}, 0, {}, {}, std::move(all));
    for (Panel& panel : result) panel.becomes(complete);
    return result;
  }
  [[nodiscard]] Index most_of_sum() const { return cut_.most(pairing_.mesh()).of_sum; }

  void receive(Panel& panel, int from, Place place, const Dependencies& after) {
    panel.for_each_segment([&](Segment& segment) {
      segment.final = {graph_.receive(segment.position(), from, panel.stream.range(place, segment), after)};
    });
  }

  const mpi::Context& context_;
  const Pairing& pairing_;
  const Products& products_;
  const PanelCut& cut_;
  Graph& graph_;

  int j_, a_, b_;
  Half half_;
  bool is_home_;
  Index rows_, columns_, inner_;
  std::vector<int> sum_ranks_;
  Index first_columns_ = 0, first_sums_ = 0, direct_columns_ = 0, other_columns_ = 0, second_sums_ = 0;
  Place row_place_{}, column_place_{}, sum_place_{}, mirrored_place_{};
  schedule::PoolId staging_{};
  Dependencies row_final_, mirrored_read_;
  std::vector<Dependencies> columns_read_;
};

/// plait's own algorithm: one graph in which half of each product is computed, as its other half mirrors it.
///
/// On p³ ranks, with blocks of U = (n/p)² elements (`Pairing` tells who needs what):
/// 1. D(j, a) goes along the chain of its row's ranks from its home. The last of them passes each half of its columns
///    on to those who need it, segment by segment as they come.
/// 2. Each rank multiplies panel by panel as columns come: n³/p³ multiplications and additions, half of those of a
///    general product. Panels are summed up along chains of p ranks, which end on another rank for each panel.
/// 3. The last hop of a sum goes straight home, and to the home of the mirrored block, which transposes it. So D² is
///    at home, from where the halves of its columns set out: 2. and 3. again, for D³.
///
/// A rank sends and receives 3 to 4 U, all of it under way together as far as it can be; with Algorithm 4 it is up to 7
/// U, one after the other. (GTFock, too, sums up lower triangles only, but on the ranks and with the operands of
/// Algorithm 4.)
///
/// D² and D³ are exactly Hermitian.
class Mirrored final : public Scheduled {
 public:
  Mirrored(mpi::Context& context, const Grid& mesh, const Products& products, const Options& options);

 private:
  void build(Graph& graph, const Slots& slots, Powers powers) override;
  [[nodiscard]] int strands() const noexcept override { return 1; }
  [[nodiscard]] Index workspace_elements() const override;

  Pairing pairing_;
};

Mirrored::Mirrored(mpi::Context& context, const Grid& mesh, const Products& products, const Options& options)
    : Scheduled(context, mesh, products, options), pairing_(mesh) {}

Index Mirrored::workspace_elements() const {
  Graph none;
  const PanelCut cut(mesh(), products().element_bytes(), segment_elements());
  return MirroredGraph(context(), pairing_, products(), cut, none).workspace_elements();
}

void Mirrored::build(Graph& graph, const Slots& slots, Powers powers) {
  const PanelCut cut(mesh(), products().element_bytes(), segment_elements());
  MirroredGraph(context(), pairing_, products(), cut, graph)
      .build({slots.d}, {slots.d2}, {slots.d3}, {slots.workspace}, powers);
}

}  // namespace

std::unique_ptr<Plan> make_mirrored(mpi::Context& context, const Grid& mesh, const Products& products,
                                    const Options& options) {
  return std::make_unique<Mirrored>(context, mesh, products, options);
}

}  // namespace plait::dense::symm
