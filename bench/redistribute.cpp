// A ← B and A ← Bᵀ between block-cyclic layouts, 32 × 32 into 128 × 128 blocks of doubles, against memcpy (every rank
// copies its local array once) and against ScaLAPACK.
//
//   ./dev bench redistribute                                    on 1, 2 and 4 ranks
//   mpirun -n 2 build/openmpi/bin/bench_redistribute --quick    by hand

#include <mpi.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/memory.hpp"
#include "plait/base/stopwatch.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "bench/harness/benchmark.hpp"
#include "bench/harness/memcpy_limit.hpp"
#include "bench/scalapack.hpp"

namespace {

using namespace plait;
using layout::Layout;
using redistribute::Op;

constexpr Index source_block = 32;
constexpr Index target_block = 128;

struct Grid {
  Index rows;
  Index columns;
};

struct Setting {
  Op op;
  Index extent;  // of the square matrix
  Grid from;
  Grid to;
};

Layout layout_on(Grid grid, Index extent, Index block) {
  return Layout::block_cyclic({extent, extent}, block, block, layout::Owners::grid(grid.rows, grid.columns));
}

/// Operands and plan of a case on one rank: the local arrays of ScaLAPACK, so that plait, the limit and the peer work
/// on the same memory.
class Operands {
 public:
  Operands(mpi::Context& context, const Setting& setting)
      : from_(layout_on(setting.from, setting.extent, source_block)),
        to_(layout_on(setting.to, setting.extent, target_block)),
        rank_(context.rank()),
        op_(setting.op),
        source_(from_.elements_of(rank_)),
        // The limit writes as much as it reads, which may be a little more than the target.
        target_(std::max(from_.elements_of(rank_), to_.elements_of(rank_))),
        source_view_(view_of(from_, source_)),
        target_view_(view_of(to_, target_)) {
    const Stopwatch watch;
    plan_.emplace(context, from_, to_, op_);
    setup_seconds_ = watch.seconds();
  }

  void rewrite() {
    // The source last: it is what a caller would have written last, and it is read first.
    std::ranges::fill(target_.span(), std::numeric_limits<double>::quiet_NaN());
    for_each(from_, [&](Index row, Index column, Index local_row, Index local_column) {
      source_view_(local_row, local_column) = value_at(row, column);
    });
  }

  void redistribute() {
    const matrix_view<const double> source = source_view_;
    plan_->execute<double>(1.0, std::span(&source, 1), 0.0, std::span(&target_view_, 1));
  }

  [[nodiscard]] Index wrong_elements() const {
    Index wrong = 0;
    for_each(to_, [&](Index row, Index column, Index local_row, Index local_column) {
      const double expected = transposes(op_) ? value_at(column, row) : value_at(row, column);
      if (target_view_(local_row, local_column) != expected) ++wrong;
    });
    return wrong;
  }

  [[nodiscard]] const Layout& from() const noexcept { return from_; }
  [[nodiscard]] const Layout& to() const noexcept { return to_; }
  [[nodiscard]] const Array<double>& source() const noexcept { return source_; }
  [[nodiscard]] const Array<double>& target() const noexcept { return target_; }
  [[nodiscard]] double setup_seconds() const noexcept { return setup_seconds_; }

 private:
  /// Exact, and another number for each element.
  [[nodiscard]] double value_at(Index row, Index column) const {
    return static_cast<double>(row * from_.shape().columns + column);
  }

  /// Every rank has one tile, its local array.
  [[nodiscard]] layout::TileExtent tile_of(const Layout& layout) const { return layout.tiles_of(rank_).at(0); }

  [[nodiscard]] matrix_view<double> view_of(const Layout& layout, const Array<double>& array) const {
    const auto tile = tile_of(layout);
    return {array.data(), tile.rows, tile.columns, std::max(Index{1}, tile.rows)};
  }

  template <class F>
  void for_each(const Layout& layout, F&& f) const {
    layout::for_each_index(layout, tile_of(layout).position, layout.storage(), f);
  }

  Layout from_;
  Layout to_;
  int rank_;
  Op op_;
  Array<double> source_;
  Array<double> target_;
  matrix_view<double> source_view_;
  matrix_view<double> target_view_;
  std::optional<redistribute::Redistribution> plan_;
  double setup_seconds_ = 0;
};

bench::Job set_up(mpi::Context& context, const Setting& setting) {
  const auto operands = std::make_shared<Operands>(context, setting);
  bench::Job job;
  job.rewrite = [=] { operands->rewrite(); };
  job.run = [=] { operands->redistribute(); };
  job.limits = bench::memcpy_limits(reinterpret_cast<std::byte*>(operands->target().data()),
                                    reinterpret_cast<const std::byte*>(operands->source().data()),
                                    operands->source().size() * Index{sizeof(double)});
  job.peer = bench::scalapack(context.comm().handle(), operands->from(), operands->to(), setting.op,
                              operands->source().data(), operands->target().data());
  job.wrong_elements = [=] { return operands->wrong_elements(); };
  job.setup_seconds = operands->setup_seconds();
  return job;
}

bench::Case make_case(mpi::Context& context, const Setting& setting) {
  bench::Case result;
  result.name = fmt::format("{} f64 {}x{} {}x{}>{}x{} ranks={}", transposes(setting.op) ? "tran" : "gemr2d",
                            setting.extent, setting.extent, setting.from.rows, setting.from.columns, setting.to.rows,
                            setting.to.columns, context.size());
  result.gate.speedup_over_peer = 1.0;
  if (setting.extent == 8000 && context.size() == 2) result.gate.fraction_of_limit = 0.30;
  // What a prototype came to that moved data through memory shared by the ranks.
  if (setting.extent == 8000) result.aim.fraction_of_limit = 0.80;
  result.set_up = [&context, setting] { return set_up(context, setting); };
  return result;
}

std::vector<std::pair<Grid, Grid>> grids_for(int ranks) {
  switch (ranks) {
    case 1: return {{{1, 1}, {1, 1}}};
    case 2: return {{{2, 1}, {1, 2}}, {{2, 1}, {2, 1}}};
    case 4: return {{{2, 2}, {2, 2}}};
    default: throw ArgumentError(fmt::format("started on {} ranks, expected 1, 2 or 4", ranks));
  }
}

std::vector<bench::Case> cases(mpi::Context& context, bool quick) {
  const std::vector<Index> extents = quick ? std::vector<Index>{100, 300} : std::vector<Index>{500, 2000, 8000};
  std::vector<bench::Case> result;
  for (const Op op : {Op::identity, Op::transpose}) {
    for (const auto& [from, to] : grids_for(context.size())) {
      for (const Index extent : extents) result.push_back(make_case(context, {op, extent, from, to}));
    }
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(
      argc, argv,
      {"redistribute",
       "Moves a square matrix of doubles from 32 x 32 into 128 x 128 blocks (block-cyclic, on the process grids "
       "from>to), as it is (gemr2d) or transposed (tran)",
       {1, 2, 4},
       cases});
}
