#include "bench/redistribute/redistribute_cases.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plait/base/error.hpp"
#include "plait/base/index.hpp"

namespace plait::bench {

namespace {

using layout::GridOrder;
using layout::Layout;
using redistribute::Op;

constexpr Grid one{1, 1};
constexpr Grid tall{2, 1};
constexpr Grid wide{1, 2};
constexpr Grid square{2, 2};
constexpr Grid square_by_columns{2, 2, GridOrder::column};

constexpr std::array both{Op::identity, Op::transpose};

/// Shares of memcpy's speed that plain moves of large matrices of doubles have to come to.
struct Promise {
  Op op;
  Grid from;
  Grid to;
  std::optional<double> gate;
  double aim;
  std::optional<double> shared_gate = {};  // where operands lie in memory that the ranks share
  double shared_aim = 0;
};
constexpr std::array promises{
    Promise{Op::identity, one, one, 0.85, 0.95},
    Promise{Op::transpose, one, one, 0.80, 0.90},
    Promise{Op::identity, tall, wide, 0.75, 0.90, 0.90, 0.95},
    Promise{Op::identity, tall, tall, 0.50, 0.75, 0.55, 0.85},
    Promise{Op::transpose, tall, wide, 0.55, 0.75, 0.78, 0.90},
    Promise{Op::transpose, tall, tall, 0.55, 0.75, 0.78, 0.90},
    Promise{Op::identity, square, square, {}, 0.65},
    Promise{Op::transpose, square, square, {}, 0.65},
};
constexpr double messages_gate = 0.30;
constexpr double update_share = 0.45;  // of what reads A, too: 0.35 of memcpy

constexpr Index large = 8000;  // from here on the promises hold
constexpr Index largest = 12000;
constexpr int few_rounds = 6;  // the least that gives an interval of 95 %, for what takes long

/// Small ones instead, for a quick run.
class Sizes {
 public:
  explicit Sizes(bool quick) : quick_(quick) {}
  [[nodiscard]] std::vector<Index> extents(bool with_largest) const {
    if (quick_) return {64, 300};
    std::vector<Index> result{64, 500, 2000, large};
    if (with_largest) result.push_back(largest);
    return result;
  }
  /// An extent or a leading dimension.
  [[nodiscard]] Index operator()(Index full) const { return quick_ ? std::min((full + 39) / 40, Index{2000}) : full; }

 private:
  bool quick_;
};

void promise(RedistributeCase& one_case, const BetweenGrids& move) {
  const auto found = std::ranges::find_if(promises, [&](const Promise& promise) {
    return promise.op == move.op && promise.from == move.from && promise.to == move.to;
  });
  if (found == promises.end() || move.shape.rows < large) return;
  one_case.gate.fraction_of_limit = one_case.form.shared ? found->shared_gate : found->gate;
  one_case.aim.fraction_of_limit = one_case.form.shared ? found->shared_aim : found->aim;
}

RedistributeCase from_shared_memory(const BetweenGrids& move) {
  RedistributeCase result{move.transfer()};
  result.form.shared = true;
  promise(result, move);
  return result;
}

RedistributeCase by_messages(const BetweenGrids& move) {
  RedistributeCase result{move.transfer()};
  result.within_node = redistribute::WithinNode::messages;
  if (move.shape.rows >= large) result.gate.fraction_of_limit = messages_gate;
  return result;
}

RedistributeCase plain(Op op, Index extent, Grid from, Grid to) {
  const BetweenGrids move = between_grids(op, extent, from, to);
  RedistributeCase result{move.transfer()};
  promise(result, move);
  if (extent >= large) result.repetitions.least = few_rounds;
  return result;
}

/// Columns as far apart as a power of two, which caches don't like.
RedistributeCase with_leading_dimension(RedistributeCase plain, Index leading_dimension) {
  plain.form.leading_dimension = leading_dimension;
  return plain;
}

RedistributeCase without_promise(RedistributeCase plain) {
  plain.gate.fraction_of_limit.reset();
  plain.aim.fraction_of_limit.reset();
  plain.repetitions.least = few_rounds;
  return plain;
}

RedistributeCase with_threads(const RedistributeCase& plain, int threads) {
  RedistributeCase result = without_promise(plain);
  result.threads = threads;
  return result;
}

/// A ← 2·op(B).
RedistributeCase scaled(const RedistributeCase& plain) {
  RedistributeCase result = without_promise(plain);
  result.form.alpha = 2;
  return result;
}

/// A ← op(B) + A.
RedistributeCase added(const RedistributeCase& plain) {
  RedistributeCase result = without_promise(plain);
  result.form.beta = 1;
  return result;
}

/// A ← 2·Bᵀ + A, what reads and changes most.
RedistributeCase scaled_and_added(Index extent, Grid from, Grid to) {
  RedistributeCase result = added(scaled(plain(Op::transpose, extent, from, to)));
  if (extent < large) return result;
  (from == one && to == one ? result.gate : result.aim).fraction_of_limit = update_share;
  return result;
}

RedistributeCase with_blocks(BetweenGrids move, Index from_block, Index to_block) {
  move.from_block = from_block;
  move.to_block = to_block;
  return {move.transfer()};
}

/// From arrays of Fortran into arrays of C.
RedistributeCase stored_by_rows(BetweenGrids move) {
  move.to_storage = StorageOrder::row_major;
  return {move.transfer()};
}

/// Split at any places, the tiles owned by any ranks: none has an equal share, and neighbours may have the same owner.
Layout irregular(Index extent, int ranks) {
  const auto at = [&](Index thousandths) { return extent * thousandths / 1000; };
  const std::vector<Index> row_splits{0, at(41), at(300), at(311), at(668), extent};
  const std::vector<Index> column_splits{0, at(209), at(517), at(530), extent};
  const std::size_t tiles = (row_splits.size() - 1) * (column_splits.size() - 1);
  std::vector<int> owners;
  owners.reserve(tiles);
  for (std::size_t i = 0; i < tiles; ++i) {
    owners.push_back(static_cast<int>(i * i / 3 % static_cast<std::size_t>(ranks)));
  }
  return Layout::custom(row_splits, column_splits, owners);
}

std::array<RedistributeCase, 2> irregular_cases(Index extent, Grid grid) {
  const auto move = between_grids(Op::identity, extent, grid, grid);
  const Layout blocks = move.transfer().from;
  const Layout custom = irregular(extent, blocks.ranks());
  const auto named = [&](std::string_view from_to, Layout from, Layout to) {
    return RedistributeCase{
        Transfer{fmt::format("gemr2d f64 {} {}", name_of(move.shape), from_to), std::move(from), std::move(to)}};
  };
  return {named("custom>blocks", custom, blocks), named("blocks>custom", blocks, custom)};
}

/// Many rows of few columns.
RedistributeCase skinny(const Sizes& sizes, Grid from, Grid to) {
  BetweenGrids move = between_grids(Op::identity, 64, from, to);
  move.shape.rows = sizes(2'000'000);
  RedistributeCase result{move.transfer()};
  result.repetitions.least = few_rounds;
  return result;
}

class Cases {
 public:
  void add(RedistributeCase one_case) { all_.push_back(std::move(one_case)); }
  void add_plain(Grid from, Grid to, std::span<const Index> extents) {
    for (const Op op : both) {
      for (const Index extent : extents) add(plain(op, extent, from, to));
    }
  }
  [[nodiscard]] std::vector<RedistributeCase> take() && { return std::move(all_); }

 private:
  std::vector<RedistributeCase> all_;
};

void on_one_rank(Cases& cases, const Sizes& sizes) {
  cases.add_plain(one, one, sizes.extents(true));
  for (const Op op : both) {
    const RedistributeCase move = plain(op, sizes(large), one, one);
    cases.add(with_leading_dimension(move, sizes(8192)));
    cases.add(without_promise(with_leading_dimension(move, sizes(large) + 1)));  // columns begin anywhere in a line
    cases.add(with_threads(move, 2));
    cases.add(scaled(move));
    cases.add(added(move));
  }
  cases.add(scaled_and_added(sizes(large), one, one));
  const BetweenGrids small = between_grids(Op::identity, sizes(2000), one, one);
  cases.add(with_blocks(small, 128, 32));
  cases.add(with_blocks(small, 1, 64));
  cases.add(stored_by_rows(small));
}

void on_two_ranks(Cases& cases, const Sizes& sizes) {
  for (const auto& [from, to] : grids_for(2)) {
    cases.add_plain(from, to, sizes.extents(true));
    for (const Op op : both) {
      const BetweenGrids move = between_grids(op, sizes(large), from, to);
      cases.add(from_shared_memory(move));
      cases.add(by_messages(move));
    }
    cases.add(scaled_and_added(sizes(large), from, to));
  }
  cases.add(with_leading_dimension(without_promise(plain(Op::identity, sizes(large), tall, wide)), sizes(8192)));
  cases.add(with_leading_dimension(without_promise(plain(Op::transpose, sizes(large), tall, tall)), sizes(8192)));
  cases.add(added(plain(Op::identity, sizes(large), tall, wide)));
  cases.add(added(plain(Op::transpose, sizes(large), tall, tall)));
  const BetweenGrids middle = between_grids(Op::identity, sizes(4000), tall, wide);
  cases.add(with_blocks(middle, 128, 32));
  cases.add(with_blocks(middle, 1, 64));
  cases.add(added(with_blocks(middle, 1, 64)));
  cases.add(with_blocks(between_grids(Op::transpose, sizes(4000), tall, wide), 1, 64));
  cases.add(stored_by_rows(middle));
  for (RedistributeCase& one_case : irregular_cases(sizes(4000), tall)) cases.add(std::move(one_case));
  cases.add(skinny(sizes, tall, wide));
}

void on_four_ranks(Cases& cases, const Sizes& sizes) {
  for (const auto& [from, to] : grids_for(4)) cases.add_plain(from, to, sizes.extents(false));
  const BetweenGrids middle = between_grids(Op::identity, sizes(4000), square, square_by_columns);
  cases.add({middle.transfer()});
  for (RedistributeCase& one_case : irregular_cases(sizes(4000), square)) cases.add(std::move(one_case));
  cases.add(skinny(sizes, {4, 1}, square_by_columns));
}

}  // namespace

std::string RedistributeCase::name(int ranks) const {
  std::string name = fmt::format("{} ranks={}{}", transfer.name, ranks, transfer.details);
  if (form.leading_dimension != 0) name += fmt::format(" ld={}", form.leading_dimension);
  if (form.shared) name += " shared";
  if (within_node == redistribute::WithinNode::messages) name += " messages";
  if (threads) name += fmt::format(" threads={}", *threads);
  if (form.alpha != 1) name += fmt::format(" alpha={:g}", form.alpha);
  if (form.beta != 0) name += fmt::format(" beta={:g}", form.beta);
  return name;
}

std::vector<RedistributeCase> redistribute_cases(int ranks, bool quick) {
  const Sizes sizes(quick);
  Cases cases;
  switch (ranks) {
    case 1: on_one_rank(cases, sizes); break;
    case 2: on_two_ranks(cases, sizes); break;
    case 4: on_four_ranks(cases, sizes); break;
    default: throw ArgumentError(fmt::format("started on {} ranks, expected 1, 2 or 4", ranks));
  }
  std::vector<RedistributeCase> all = std::move(cases).take();
  for (RedistributeCase& one_case : all) one_case.gate.speedup_over_peer = 1.0;
  return all;
}

}  // namespace plait::bench
