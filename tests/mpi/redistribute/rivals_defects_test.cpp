// Where other libraries for redistribution were found to be wrong, to crash or to run out of something.

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "support/ranks.hpp"
#include "tests/mpi/redistribute/random_case.hpp"

namespace plait::test {
namespace {

using layout::DistributedMatrix;
using layout::GridOrder;
using layout::Layout;
using layout::Owners;
using layout::Shape;
using redistribute::Op;
using redistribute::Redistribution;

// Elements of A that differ from op(B), on all ranks together.
Index wrong_after(mpi::Context& context, const Layout& from, const Layout& to, Op op = Op::identity) {
  DistributedMatrix<double> source(from, rank());
  DistributedMatrix<double> target(to, rank());
  source.for_each_element([](Index i, Index j, double& value) { value = element<double>(1, i, j); });
  target.for_each_element([](Index, Index, double& value) { value = std::numeric_limits<double>::quiet_NaN(); });
  Redistribution(context, from, to, op).execute(source, target);
  Index wrong = 0;
  target.for_each_element([&](Index i, Index j, double& value) {
    const double b = transposes(op) ? element<double>(1, j, i) : element<double>(1, i, j);
    wrong += value == b ? 0 : 1;
  });
  return mpi::all_reduce(context.comm(), wrong, MPI_SUM);
}

Layout cyclic(Shape shape, Index block, Index rows, Index columns, GridOrder order = GridOrder::row, int first = 0) {
  return Layout::block_cyclic(shape, block, block, Owners::grid(rows, columns, order, first));
}

TEST(RivalsDefects, GridsOfDifferentShapesAndOrders) {
  mpi::Context context(test_comm());
  const Shape shape{203, 157};
  for (Index rows = 1; rows <= ranks(); ++rows) {
    for (Index columns = 1; rows * columns <= ranks(); ++columns) {
      for (const GridOrder order : {GridOrder::row, GridOrder::column}) {
        EXPECT_EQ(wrong_after(context, cyclic(shape, 8, ranks(), 1), cyclic(shape, 32, rows, columns, order)), 0);
        EXPECT_EQ(wrong_after(context, cyclic(shape, 8, 1, ranks()), cyclic(shape, 16, rows, columns, order)), 0);
        EXPECT_EQ(wrong_after(context, cyclic(shape, 8, rows, columns, GridOrder::row),
                              cyclic(shape, 8, rows, columns, order)),
                  0);
      }
    }
  }
}

TEST(RivalsDefects, DestinationOnSomeOfTheRanksOrOnOthersAltogether) {
  mpi::Context context(test_comm());
  const Shape shape{91, 64};
  const int last = ranks() - 1;
  EXPECT_EQ(wrong_after(context, cyclic(shape, 8, ranks(), 1), cyclic(shape, 16, 1, 1, GridOrder::row, last)), 0);
  EXPECT_EQ(wrong_after(context, cyclic(shape, 8, 1, 1, GridOrder::row, last), cyclic(shape, 16, 1, ranks())), 0);
  if (ranks() < 2) return;
  const int half = ranks() / 2;
  EXPECT_EQ(wrong_after(context, cyclic(shape, 8, half, 1), cyclic(shape, 4, 1, ranks() - half, GridOrder::row, half)),
            0);
}

TEST(RivalsDefects, AnyOwnersOfTheProcessGrid) {
  mpi::Context context(test_comm());
  std::vector<int> backwards(static_cast<std::size_t>(ranks()));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const Layout mapped = Layout::block_cyclic({70, 70}, 5, 9, Owners::listed(1, ranks(), backwards));
  EXPECT_EQ(wrong_after(context, cyclic({70, 70}, 8, ranks(), 1), mapped), 0);
  EXPECT_EQ(wrong_after(context, mapped, cyclic({70, 70}, 8, ranks(), 1), Op::transpose), 0);
}

TEST(RivalsDefects, TransposesRowMajorTiles) {
  mpi::Context context(test_comm());
  const Layout from = Layout::rows({600, 100}, ranks(), StorageOrder::row_major);
  EXPECT_EQ(wrong_after(context, from, Layout::blocks({100, 600}, 1, ranks(), GridOrder::row, StorageOrder::row_major),
                        Op::transpose),
            0);
  EXPECT_EQ(wrong_after(context, from, Layout::columns({100, 600}, ranks()), Op::transpose), 0);
}

TEST(RivalsDefects, AlphaZeroNeverReadsTheSourceAndBetaZeroNeverTheTarget) {
  mpi::Context context(test_comm());
  const Layout from = cyclic({40, 30}, 4, ranks(), 1);
  const Layout to = cyclic({40, 30}, 8, 1, ranks());
  Redistribution plan(context, from, to);
  DistributedMatrix<double> target(to, rank());
  target.for_each_element([](Index i, Index j, double& value) { value = element<double>(2, i, j); });
  const std::vector<matrix_view<const double>> nothing;  // not even tiles
  plan.execute<double>(0.0, nothing, 3.0, target.tiles());
  Index wrong = 0;
  target.for_each_element(
      [&](Index i, Index j, double& value) { wrong += value == 3 * element<double>(2, i, j) ? 0 : 1; });
  EXPECT_EQ(wrong, 0);

  target.for_each_element([](Index, Index, double& value) { value = std::numeric_limits<double>::quiet_NaN(); });
  plan.execute<double>(0.0, nothing, 0.0, target.tiles());
  target.for_each_element([&](Index, Index, double& value) { wrong += value == 0 ? 0 : 1; });
  EXPECT_EQ(wrong, 0);
}

TEST(RivalsDefects, ThousandsOfPlansUseUpNoCommunicatorsAndNoTags) {
  mpi::Context context(test_comm());
  for (int round = 0; round < 3000; ++round) {
    Redistribution plan(context, Layout::rows({2, 2}, ranks()), Layout::columns({2, 2}, ranks()));
    if (round % 1000 == 0) {
      EXPECT_EQ(wrong_after(context, plan.from(), plan.to()), 0);
    }
  }
}

TEST(RivalsDefects, MessagesNeverMeetThoseOfTheCaller) {
  mpi::Context context(test_comm());
  int received = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, test_comm(), &request);
  EXPECT_EQ(wrong_after(context, cyclic({90, 90}, 8, ranks(), 1), cyclic({90, 90}, 8, 1, ranks())), 0);
  const int mine = rank();
  MPI_Request sending = MPI_REQUEST_NULL;
  MPI_Isend(&mine, 1, MPI_INT, (rank() + 1) % ranks(), 5, test_comm(), &sending);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
  EXPECT_EQ(received, (rank() + ranks() - 1) % ranks());
}

TEST(RivalsDefects, TwoExecutionsUnderWayDoNotDisturbEachOther) {
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({80, 60}, ranks());
  const Layout tiles = cyclic({80, 60}, 7, 1, ranks());
  Redistribution there(context, rows, tiles);
  Redistribution back(context, tiles, rows);
  DistributedMatrix<float> a(rows, rank()), b(tiles, rank()), c(tiles, rank()), d(rows, rank());
  a.for_each_element([](Index i, Index j, float& value) { value = element<float>(1, i, j); });
  c.for_each_element([](Index i, Index j, float& value) { value = element<float>(2, i, j); });
  there.start<float>(1, a.const_tiles(), 0, b.tiles());
  back.start<float>(1, c.const_tiles(), 0, d.tiles());
  while (!there.progress() || !back.progress()) {
  }
  if (rank() % 2 == 0) {
    there.wait();
    back.wait();
  } else {
    back.wait();
    there.wait();
  }
  Index wrong = 0;
  b.for_each_element([&](Index i, Index j, float& value) { wrong += value == element<float>(1, i, j) ? 0 : 1; });
  d.for_each_element([&](Index i, Index j, float& value) { wrong += value == element<float>(2, i, j) ? 0 : 1; });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace plait::test
