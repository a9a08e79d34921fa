#include "plait/sinkhorn/grid/grid.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/sinkhorn/grid/grid.hpp"

#include "mpi/mpi/pretended_nodes.hpp"
#include "mpi/sinkhorn/problem.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using layout::GridOrder;
using sinkhorn::Acceleration;
using Grid = layout::ProcessGrid;
using sinkhorn::Limits;
using sinkhorn::Scaling;
using sinkhorn::Status;
using ::testing::HasSubstr;

std::vector<Grid> grids(GridOrder order = GridOrder::row) {
  std::vector<Grid> all;
  for (int columns = 1; columns <= ranks(); ++columns) {
    if (ranks() % columns == 0) all.push_back({.rows = ranks() / columns, .columns = columns, .order = order});
  }
  return all;
}

/// This rank's block, with two elements of nobody's behind each row.
template <class T>
struct OwnBlock {
  OwnBlock(const WholeProblem& whole, const Grid& grid)
      : place(sinkhorn::block_place(grid, {whole.rows, whole.columns}, rank())),
        elements(static_cast<std::size_t>(place.rows * (place.columns + 2)), simd::narrowed<T>(-99.0)) {
    for (Index i = 0; i < place.rows; ++i) {
      for (Index j = 0; j < place.columns; ++j) {
        elements[static_cast<std::size_t>(i * (place.columns + 2) + j)] =
            simd::narrowed<T>(whole(place.first_row + i, place.first_column + j));
      }
    }
  }
  [[nodiscard]] matrix_view<const T> view() const {
    return {elements.data(), place.rows, place.columns, place.columns + 2, StorageOrder::row_major};
  }

  sinkhorn::BlockPlace place;
  std::vector<T> elements;
};

template <class T, class A>
Scaling<A> scaled(mpi::Context& context, const Grid& grid, const WholeProblem& whole, const Limits& limits = {},
                  std::span<const A> start = {}) {
  const OwnBlock<T> block(whole, grid);
  return sinkhorn::scale_on_grid<T, A>(context, grid, {whole.rows, whole.columns}, block.view(), {whole.r, whole.c},
                                       limits, start);
}

template <class T, class A>
void expect_the_plan(const Grid& grid, const WholeProblem& whole, const Scaling<A>& scaling,
                     const std::vector<long double>& reference, double accuracy) {
  const OwnBlock<T> block(whole, grid);
  ASSERT_EQ(static_cast<Index>(scaling.u.size()), block.place.rows);
  ASSERT_EQ(static_cast<Index>(scaling.v.size()), block.place.columns);
  const double largest = static_cast<double>(std::ranges::max(reference));
  for (Index i = 0; i < block.place.rows; ++i) {
    for (Index j = 0; j < block.place.columns; ++j) {
      const double entry = static_cast<double>(scaling.u[static_cast<std::size_t>(i)]) *
                           simd::widened<double>(block.view()(i, j)) *
                           static_cast<double>(scaling.v[static_cast<std::size_t>(j)]);
      const Index at = (block.place.first_row + i) * whole.columns + block.place.first_column + j;
      ASSERT_NEAR(entry, static_cast<double>(reference[static_cast<std::size_t>(at)]), accuracy * largest);
    }
  }
}

TEST(SinkhornGrid, FindsThePlanOfTheReferenceOnEveryGridAndAnyNodes) {
  const Index shapes[][2] = {{1, 9}, {9, 1}, {2, 3}, {13, 40}, {37, 8}};
  std::vector<std::vector<int>> nodes{{ranks()}};
  if (ranks() > 1) nodes.insert(nodes.end(), {{1, ranks() - 1}, {ranks() / 2, ranks() - ranks() / 2}});
  for (const auto& sizes : nodes) {
    const PretendedNodes pretended(sizes);
    mpi::Context context(test_comm());
    for (const auto& shape : shapes) {
      const WholeProblem whole = random_problem(shape[0], shape[1], 41);
      const std::vector<long double> reference = reference_plan(whole);
      for (const Grid& grid : grids(shape[0] > shape[1] ? GridOrder::column : GridOrder::row)) {
        SCOPED_TRACE(std::to_string(grid.rows) + " x " + std::to_string(grid.columns));
        const auto scaling = scaled<double, double>(context, grid, whole, {.tolerance = 1e-14});
        EXPECT_EQ(scaling.outcome.status, Status::converged) << scaling.outcome.reason;
        EXPECT_LE(scaling.outcome.error, 1e-14);
        expect_the_plan<double>(grid, whole, scaling, reference, 1e-12);
      }
    }
  }
}

TEST(SinkhornGrid, FindsItInEveryPrecision) {
  mpi::Context context(test_comm());
  const WholeProblem whole = random_problem(29, 41, 42);
  const std::vector<long double> reference = reference_plan(whole);
  for (const Grid& grid : grids()) {
    expect_the_plan<float>(grid, whole, scaled<float, float>(context, grid, whole, {.tolerance = 3e-6}), reference,
                           1e-5);
    expect_the_plan<float>(grid, whole, scaled<float, double>(context, grid, whole, {.tolerance = 1e-13}), reference,
                           3e-7);
    expect_the_plan<simd::BFloat16>(
        grid, whole, scaled<simd::BFloat16, float>(context, grid, whole, {.tolerance = 3e-6}), reference, 2e-2);
  }
}

TEST(SinkhornGrid, GoesTheWayOfTheDistributionByRows) {
  mpi::Context context(test_comm());
  const WholeProblem whole = random_problem(20, 31, 43);
  const Limits limits{.tolerance = 1e-11};
  const auto by_rows = scaled<double, double>(context, {ranks(), 1}, whole, limits);
  ASSERT_EQ(by_rows.outcome.status, Status::converged);
  for (const Grid& grid : grids()) {
    for (const Index most : {Index{3}, by_rows.outcome.iterations, Index{100}}) {
      const auto scaling = scaled<double, double>(context, grid, whole, {.tolerance = 1e-11, .most_iterations = most});
      const auto expected = static_cast<std::size_t>(std::min(most, by_rows.outcome.iterations));
      ASSERT_EQ(scaling.outcome.errors.size(), expected);
      EXPECT_EQ(scaling.outcome.status, most == 3 ? Status::iteration_limit : Status::converged);
      for (std::size_t k = 0; k < expected; ++k) {
        EXPECT_NEAR(scaling.outcome.errors[k], by_rows.outcome.errors[k], 1e-14);
      }
    }
    // One iteration, from where another run ended.
    std::vector<double> start(by_rows.v);
    EXPECT_EQ((scaled<double, double>(context, grid, whole, {.tolerance = 1e-10}, start).outcome.iterations), 1);
  }
}

TEST(SinkhornGrid, ScalesToOnesWithoutMarginalsAndLeavesEmptyOnesEmpty) {
  mpi::Context context(test_comm());
  WholeProblem whole = random_problem(9, 9, 44);
  whole.r.assign(9, 1);
  whole.c.assign(9, 1);
  const std::vector<long double> of_ones = reference_plan(whole);
  WholeProblem empty = random_problem(9, 9, 45);
  empty.r = {0.25, 0, 0.25, 0, 0, 0.5, 0, 0, 0};
  empty.c = {0, 0, 0, 0, 0.5, 0, 0, 0.25, 0.25};
  for (Index j = 0; j < 9; ++j) empty(1, j) = 0;
  const std::vector<long double> of_empty = reference_plan(empty);
  for (const Grid& grid : grids()) {
    const OwnBlock<double> block(whole, grid);
    const auto ones = sinkhorn::scale_on_grid<double, double>(context, grid, {9, 9}, block.view(), {});
    expect_the_plan<double>(grid, whole, ones, of_ones, 1e-8);
    const auto scaling = scaled<double, double>(context, grid, empty, {.tolerance = 1e-14});
    EXPECT_EQ(scaling.outcome.status, Status::converged) << scaling.outcome.reason;
    expect_the_plan<double>(grid, empty, scaling, of_empty, 1e-12);
  }
}

TEST(SinkhornGrid, OfNothingConvergesAtOnce) {
  mpi::Context context(test_comm());
  for (const auto& [rows, columns] : {std::pair<Index, Index>{0, 0}, {0, 5}, {5, 0}}) {
    WholeProblem whole = random_problem(rows, columns, 46);
    std::ranges::fill(whole.r, 0);
    std::ranges::fill(whole.c, 0);
    for (const Grid& grid : grids()) {
      EXPECT_EQ((scaled<double, double>(context, grid, whole).outcome.status), Status::converged);
    }
  }
}

TEST(SinkhornGrid, ProvesThatThereIsNoSuchPlan) {
  mpi::Context context(test_comm());
  WholeProblem whole = random_problem(6, 6, 47);
  for (const Index i : {1, 2, 5}) {
    for (Index j = 2; j < 6; ++j) whole(i, j) = 0;
  }
  whole.r.assign(6, 1);
  whole.c.assign(6, 1);
  WholeProblem slow{2, 2, {1, 1, 0, 1}, {1, 1}, {1, 1}};
  WholeProblem far = random_problem(4, 4, 48);
  for (double& entry : far.entries) entry *= 1e-300;
  far(0, 0) = 1e300;
  far.r.assign(4, 1e20);
  far.c.assign(4, 1e20);
  for (const Grid& grid : grids()) {
    const auto none = scaled<double, double>(context, grid, whole);
    EXPECT_EQ(none.outcome.status, Status::no_support);
    EXPECT_THAT(none.outcome.reason,
                HasSubstr("3 of the rows must sum up to 3, and all their entries lie in 2 of the columns"));
    const auto tight = scaled<double, double>(
        context, grid, slow, {.tolerance = 1e-9, .most_iterations = 200, .acceleration = Acceleration::none});
    EXPECT_THAT(tight.outcome.reason, HasSubstr("no total support"));
    EXPECT_EQ((scaled<double, double>(context, grid, far).outcome.status), Status::numerical_limit);
    EXPECT_EQ((scaled<float, float>(context, grid, random_problem(40, 50, 49), {.tolerance = 0}).outcome.status),
              Status::numerical_limit);
  }
}

TEST(SinkhornGrid, RefusesWhatDoesNotFitOnAllRanks) {
  mpi::Context context(test_comm());
  const WholeProblem whole = random_problem(9, 8, 50);
  const auto with = [&](const Grid& grid, const auto& change) {
    return [&context, &whole, grid, change] {
      WholeProblem changed = whole;
      change(changed);
      static_cast<void>(scaled<double, double>(context, grid, changed));
    };
  };
  for (const Grid& grid : grids()) {
    EXPECT_THAT(message_of<ArgumentError>(
                    with(grid, [](WholeProblem& p) { p(6, 5) = std::numeric_limits<double>::quiet_NaN(); })),
                HasSubstr("the entry in row 6, column 5 is nan"));
    EXPECT_THAT(message_of<ArgumentError>(with(grid,
                                               [](WholeProblem& p) {
                                                 for (Index j = 0; j < 8; ++j) p(7, j) = 0;
                                               })),
                HasSubstr("row 7 has only zeros"));
    EXPECT_THAT(message_of<ArgumentError>(with(grid,
                                               [](WholeProblem& p) {
                                                 for (Index i = 0; i < 9; ++i) p(i, 7) = 0;
                                               })),
                HasSubstr("column 7 has only zeros"));
    EXPECT_THAT(message_of<ArgumentError>(with(grid, [](WholeProblem& p) { p.r[4] += 0.1; })),
                HasSubstr("all rows sum up to 1.1"));
    EXPECT_THAT(message_of<ArgumentError>(with(grid, [](WholeProblem& p) { p.r.push_back(0); })),
                HasSubstr("marginals of 10 rows are given, expected 9"));
    EXPECT_THAT(message_of<ArgumentError>(with(grid, [](WholeProblem& p) { p.c.push_back(0); })),
                HasSubstr("marginals of 9 columns are given, expected 8"));
    EXPECT_THAT(message_of<ArgumentError>(with({grid.rows, grid.columns + 1}, [](WholeProblem&) {})),
                HasSubstr("expected rows x columns ="));
    const std::vector<double> wrong{1, 1, 0, 1, 1, 1, 1, 1};
    EXPECT_THAT(message_of<ArgumentError>([&] { return scaled<double, double>(context, grid, whole, {}, wrong); }),
                HasSubstr("the factor 0 for column 2"));
  }
  const Grid grid{ranks(), 1};
  const OwnBlock<double> block(whole, grid);
  EXPECT_THAT(message_of<ArgumentError>([&] {
                return sinkhorn::scale_on_grid<double, double>(context, grid, {9, 7}, block.view(), {whole.r, whole.c});
              }),
              HasSubstr("this rank's part of the matrix on the grid"));
}

TEST(SinkhornGridChoice, KeepsRowsWholeWhereReadingTakesLongest) {
  const model::Machine machine = model::default_machine();
  EXPECT_EQ(sinkhorn::choose_grid(machine, {4, 1}, {6400, 28800}, 8, 8), (Grid{4, 1}));
  EXPECT_EQ(sinkhorn::choose_grid(machine, {1, 1}, {10, 10}, 8, 8), (Grid{1, 1}));
}

TEST(SinkhornGridChoice, CutsColumnsWhereTheyAreManyAndTheNetworkIsSlow) {
  model::Machine machine = model::default_machine();
  machine.read_bytes_per_second *= 1e6;
  // Two ranks a node: columns inside of the nodes, as many bytes between them, fewer in them. Four nodes: both.
  const Grid found = sinkhorn::choose_grid(machine, {4, 1}, {40'000, 1'000'000}, 8, 8);
  EXPECT_GT(found.columns, 1);
  EXPECT_EQ(sinkhorn::choose_grid(machine, {4, 1}, {4'000'000, 40}, 8, 8), (Grid{4, 1}));
  for (const Grid& grid : {Grid{4, 1}, Grid{2, 2}, Grid{1, 4}}) {
    EXPECT_GE(sinkhorn::seconds_on(grid, machine, {4, 1}, {40'000, 1'000'000}, 8, 8),
              sinkhorn::seconds_on(found, machine, {4, 1}, {40'000, 1'000'000}, 8, 8));
  }
}

}  // namespace
}  // namespace plait::test
