// What callers are promised when they ask for something that can't be, and what is counted.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::test {
namespace {

using layout::DistributedMatrix;
using layout::Layout;
using layout::Owners;
using redistribute::Op;
using redistribute::Options;
using redistribute::Redistribution;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(RedistributionContract, ShapesThatDoNotFitAreNamedOnEveryRank) {
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({30, 20}, ranks());
  const Layout to = Layout::columns({30, 20}, ranks());
  EXPECT_THAT(message_of<ShapeMismatch>([&] { Redistribution(context, from, to, Op::transpose); }),
              AllOf(HasSubstr("op(B) is 20 x 30"), HasSubstr("A is 30 x 20")));
}

TEST(RedistributionContract, LayoutsOnMoreRanksThanThereAreAreRefused) {
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({30, 20}, ranks());
  EXPECT_THAT(
      message_of<LayoutError>([&] { Redistribution(context, from, Layout::rows({30, 20}, ranks() + 1)); }),
      AllOf(HasSubstr("to: rows@" + std::to_string(ranks() + 1)), HasSubstr("there are " + std::to_string(ranks()))));
}

TEST(RedistributionContract, RanksThatPlanDifferentThingsAllHearOfIt) {
  if (ranks() == 1) return;
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({30, 20}, ranks());
  const Layout to = rank() == 0 ? Layout::columns({30, 20}, ranks()) : Layout::rows({30, 20}, ranks());
  EXPECT_THAT(message_of<ArgumentError>([&] { Redistribution(context, from, to); }),
              HasSubstr("the ranks plan different redistributions"));
}

TEST(RedistributionContract, LayoutsThatDifferInOneOwnerOrSplitOrTheOpAreDifferent) {
  if (ranks() == 1) return;
  mpi::Context context(test_comm());
  const Index split = rank() == 0 ? 100 : 150;
  const Layout cut = Layout::custom({0, split, 300}, {0, 50, 200}, {0, 1, 1, 0});
  const Layout owned = Layout::custom({0, 100, 300}, {0, 50, 200}, {0, 1, 1, rank() == 0 ? 0 : 1});
  const Layout to = Layout::rows({300, 200}, ranks());
  std::vector<int> owners(18);
  for (std::size_t i = 0; i < owners.size(); ++i) owners[i] = static_cast<int>(i * i + (rank() == 0 ? 1 : 0)) % 2;
  const Layout dealt = Layout::block_cyclic({300, 200}, 7, 5, layout::Owners::listed(3, 6, owners));
  for (const Layout& from : {cut, owned, dealt}) {
    EXPECT_THAT(message_of<ArgumentError>([&] { Redistribution(context, from, to); }),
                HasSubstr("the ranks plan different redistributions"));
  }
  const Layout square = Layout::rows({30, 30}, ranks());
  EXPECT_THAT(message_of<ArgumentError>(
                  [&] { Redistribution(context, square, square, rank() == 0 ? Op::identity : Op::transpose); }),
              HasSubstr(rank() == 0 ? ", identity" : ", transpose"));
}

TEST(RedistributionContract, AnExecutionUnderWayIsFinishedWhereThePlanGoes) {
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({300, 200}, ranks());
  const Layout to = Layout::columns({300, 200}, ranks());
  layout::DistributedMatrix<double> b(from, rank()), a(to, rank());
  b.for_each_element([](Index i, Index j, double& value) { value = element<double>(1, i, j); });
  const auto wrong = [&] {
    Index count = 0;
    a.for_each_element([&](Index i, Index j, double& value) {
      count += value == element<double>(1, i, j) ? 0 : 1;
      value = 0;
    });
    return count;
  };
  {
    Redistribution plan(context, from, to);
    plan.start<double>(1.0, b.const_tiles(), 0.0, a.tiles());
  }
  EXPECT_EQ(wrong(), 0);

  Redistribution plan(context, from, to);
  plan.start<double>(1.0, b.const_tiles(), 0.0, a.tiles());
  EXPECT_THAT(message_of<ArgumentError>([&] { plan.start<double>(1.0, b.const_tiles(), 0.0, a.tiles()); }),
              HasSubstr("under way"));
  plan = Redistribution(context, to, from);
  EXPECT_EQ(wrong(), 0);
}

TEST(RedistributionContract, TilesOfTheWrongShapeOnOneRankAreReportedOnAll) {
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({30, 20}, ranks());
  Redistribution plan(context, from, from);
  DistributedMatrix<double> source(from, rank());
  DistributedMatrix<double> target(from, rank());
  source.for_each_element([](Index i, Index j, double& value) { value = element<double>(1, i, j); });
  std::vector<matrix_view<const double>> tiles(source.const_tiles().begin(), source.const_tiles().end());
  if (rank() == ranks() - 1) tiles[0] = tiles[0].part(0, 0, tiles[0].rows(), 19);
  EXPECT_THAT(message_of<ShapeMismatch>([&] { plan.execute<double>(1, tiles, 0, target.tiles()); }), HasSubstr("19"));
  plan.execute(source, target);  // and the plan is as good as before
  EXPECT_EQ(wrong_elements(target, 1), 0);
}

TEST(RedistributionContract, AMatrixOfAnotherRanksTilesIsReportedOnAll) {
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({7 * ranks(), 5}, ranks());  // all tiles have one shape
  const Layout to = Layout::columns({7 * ranks(), 5}, ranks());
  Redistribution plan(context, from, to);
  const int last = ranks() - 1;
  DistributedMatrix<double> source(from, rank() == last ? last + 1 : rank());
  DistributedMatrix<double> target(to, rank());
  EXPECT_THAT(message_of<ArgumentError>([&] { plan.execute(source, target); }),
              HasSubstr("source has the tiles of rank " + std::to_string(ranks()) + ", expected those of rank " +
                        std::to_string(last)));
}

TEST(RedistributionContract, RanksThatExecuteDifferentTypesAllHearOfIt) {
  if (ranks() == 1) return;
  mpi::Context context(test_comm());
  const Layout layout = Layout::rows({30, 20}, ranks());
  Redistribution plan(context, layout, Layout::columns({30, 20}, ranks()));
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    DistributedMatrix<T> source(layout, rank());
    DistributedMatrix<T> target(plan.to(), rank());
    source.for_each_element([](Index, Index, T& value) { value = T{}; });
    plan.execute(source, target);
  };
  EXPECT_THAT(message_of<ArgumentError>([&] { rank() == 0 ? run(0.0F) : run(0.0); }), HasSubstr("element type"));
  run(0.0);
}

TEST(RedistributionContract, RanksThatGiveDifferentScalarsOrTypesOfOneSizeAllHearOfIt) {
  if (ranks() == 1) return;
  mpi::Context context(test_comm());
  const Layout layout = Layout::rows({30, 20}, ranks());
  Redistribution plan(context, layout, Layout::columns({30, 20}, ranks()));
  const auto run = [&](auto alpha, auto beta) {
    using T = decltype(alpha);
    DistributedMatrix<T> source(layout, rank());
    DistributedMatrix<T> target(plan.to(), rank());
    source.for_each_element([](Index, Index, T& value) { value = T{2}; });
    target.for_each_element([](Index, Index, T& value) { value = T{1}; });
    plan.execute(alpha, source, beta, target);
  };
  const bool is_last = rank() == ranks() - 1;
  const std::string last = "rank " + std::to_string(ranks() - 1);
  EXPECT_THAT(message_of<ArgumentError>([&] { run(is_last ? 0.25 : 0.5, 1.0); }),
              HasSubstr(last + ": alpha: is 0.25, but 0.5 on rank 0"));
  EXPECT_THAT(message_of<ArgumentError>([&] { run(0.5, is_last ? 1.0 : -1.0); }),
              HasSubstr(last + ": beta: is 1, but -1 on rank 0"));
  EXPECT_THAT(message_of<ArgumentError>([&] { is_last ? run(std::int64_t{1}, std::int64_t{0}) : run(1.0, 0.0); }),
              HasSubstr(last + ": element type: is i64, but f64 on rank 0"));
  run(0.5, 1.0);
}

TEST(RedistributionContract, SourceAndTargetInTheSameMemoryAreRefused) {
  mpi::Context context(test_comm());
  const Layout layout = Layout::rows({30, 20}, ranks());
  Redistribution plan(context, layout, layout);
  DistributedMatrix<double> matrix(layout, rank());
  EXPECT_THAT(message_of<ArgumentError>([&] { plan.execute<double>(1, matrix.const_tiles(), 0, matrix.tiles()); }),
              HasSubstr("must not overlap"));
}

TEST(RedistributionContract, SubmatricesOfOneArrayThatLieBesideEachOtherDoNotOverlap) {
  mpi::Context context(test_comm());
  // Left and upper halves of each rank's array as source, right and lower ones as target.
  const Layout layout = Layout::block_cyclic({10 * ranks(), 10}, 10, 10, Owners::grid(ranks(), 1));
  Redistribution plan(context, layout, layout);
  std::vector<double> array(20 * 20, 1.0);
  const matrix_view<double> whole(array.data(), 20, 20, 20);
  for (const auto& [row, column] : {std::pair<Index, Index>{10, 0}, {0, 10}, {10, 10}}) {
    const std::vector<matrix_view<const double>> source{whole.part(0, 0, 10, 10)};
    const std::vector<matrix_view<double>> target{whole.part(row, column, 10, 10)};
    EXPECT_NO_THROW(plan.execute<double>(1, source, 0, target));
  }
  const std::vector<matrix_view<const double>> source{whole.part(0, 0, 10, 10)};
  const std::vector<matrix_view<double>> target{whole.part(9, 9, 10, 10)};
  EXPECT_THROW(plan.execute<double>(1, source, 0, target), ArgumentError);
}

TEST(RedistributionContract, ABudgetTooSmallToWorkWithIsNamed) {
  mpi::Context context(test_comm());
  const Layout layout = Layout::rows({30, 20}, ranks());
  Options options;
  options.memory_budget = 100;
  EXPECT_THAT(message_of<ArgumentError>([&] { Redistribution(context, layout, layout, Op::identity, options); }),
              AllOf(HasSubstr("memory_budget: is 100 bytes"), HasSubstr("at least 4096")));
}

TEST(RedistributionContract, CountsWhatItMovesExactly) {
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({64, 48}, ranks());
  const Layout to = Layout::block_cyclic({64, 48}, 8, 8, Owners::grid(1, ranks()));
  Redistribution plan(context, from, to);
  DistributedMatrix<double> source(from, rank());
  DistributedMatrix<double> target(to, rank());
  source.for_each_element([](Index, Index, double& value) { value = 1; });
  plan.execute(source, target);

  // Counted element by element: who holds it before, who after.
  redistribute::Volume volume;
  Index peers = 0;
  std::vector<bool> is_peer(static_cast<std::size_t>(ranks()), false);
  for (Index i = 0; i < 64; ++i) {
    for (Index j = 0; j < 48; ++j) {
      const bool mine_before = from.owner_of(i, j) == rank();
      const bool mine_after = to.owner_of(i, j) == rank();
      volume.kept += mine_before && mine_after ? 1 : 0;
      volume.sent += mine_before && !mine_after ? 1 : 0;
      volume.received += !mine_before && mine_after ? 1 : 0;
      if (mine_before && !mine_after && !is_peer[static_cast<std::size_t>(to.owner_of(i, j))]) {
        is_peer[static_cast<std::size_t>(to.owner_of(i, j))] = true;
        ++peers;
      }
    }
  }
  EXPECT_EQ(plan.volume().kept, volume.kept);
  EXPECT_EQ(plan.volume().sent, volume.sent);
  EXPECT_EQ(plan.volume().received, volume.received);
  const TrafficCounters& counted = context.counters().at("redistribute");
  EXPECT_EQ(counted.sent_to(PeerClass::self), (Traffic{0, volume.kept * 8}));
  EXPECT_EQ(counted.sent_to(PeerClass::node), (Traffic{peers, volume.sent * 8}));  // small: a message a package
  EXPECT_EQ(counted.received_from(PeerClass::node).bytes, volume.received * 8);
  EXPECT_EQ(counted.sent_to(PeerClass::network), Traffic{});
}

TEST(RedistributionContract, CountsTheElementsOfAllMatricesThatItPlans) {
  mpi::Context context(test_comm());
  const Index many = Index{1} << 40;
  EXPECT_EQ(Redistribution(context, Layout::rows({many, 1 << 20}, 1), Layout::rows({many, 1 << 20}, 1)).volume().kept,
            rank() == 0 ? many << 20 : 0);
  EXPECT_EQ(Redistribution(context, Layout::rows({many, 0}, ranks()), Layout::columns({many, 0}, 1)).volume().kept, 0);
  EXPECT_THAT(message_of<LayoutError>(
                  [&] { Redistribution(context, Layout::rows({many, many}, ranks()), Layout::rows({many, many}, 1)); }),
              HasSubstr("more than can be counted"));
}

TEST(RedistributionContract, StaysWithinItsBudgetOfStagingMemory) {
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({512, 512}, ranks());
  const Layout to = Layout::columns({512, 512}, ranks());
  Options options;
  options.memory_budget = 64 * 1024;
  Redistribution plan(context, from, to, Op::identity, options);
  DistributedMatrix<double> source(from, rank());
  DistributedMatrix<double> target(to, rank());
  source.for_each_element([](Index i, Index j, double& value) { value = element<double>(1, i, j); });
  plan.execute(source, target);
  EXPECT_LE(context.staging().held_bytes(), options.memory_budget);
}

}  // namespace
}  // namespace plait::test
