// What is chosen for layouts on more ranks than there are anywhere near, without any of them.
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "plait/dense/arrangement/moves.hpp"
#include "plait/dense/multiplication.hpp"
#include "plait/model/machine.hpp"

namespace plait::test {
namespace {

using dense::Arrangement;
using dense::Choice;
using dense::Factors;
using dense::Method;
using layout::Layout;
using layout::Owners;
using layout::ProcessGrid;

constexpr Index element_bytes = 8;

Choice choice(const Factors& factors, const Layout& c, int ranks, const model::Machine& machine) {
  return dense::choose(factors, c, machine, {ranks, 1}, element_bytes, {});
}

/// A machine of which the network does little.
model::Machine slowly_connected() {
  model::Machine machine = model::default_machine();
  const model::BandwidthCurve slow({{1, 1e6}, {Index{1} << 20, 1e7}});
  machine.network.streams = {{1, slow, slow}};
  return machine;
}

TEST(MovedBytes, AreNoneWhereTheMatricesLieAsTheArrangementWants) {
  for (const auto& [method, mesh] : std::vector<std::pair<Method, ProcessGrid>>{{Method::summa, {20, 25, 1}},
                                                                                {Method::ring, {1, 400, 1}},
                                                                                {Method::cannon, {20, 20, 1}},
                                                                                {Method::summa, {10, 10, 4}}}) {
    const Arrangement wanted({3000, 2000, 1000}, method, mesh);
    const Factors factors{wanted.a_layout(), wanted.b_layout()};
    EXPECT_EQ(moved_bytes(factors, wanted.c_layout(), wanted, element_bytes, 512), 0) << wanted.describe();
    const Factors transposed{wanted.a_layout().transposed(), wanted.b_layout().transposed(), dense::Op::transpose,
                             dense::Op::conjugate_transpose};
    EXPECT_EQ(moved_bytes(transposed, wanted.c_layout(), wanted, element_bytes, 512), 0) << wanted.describe();
  }
}

TEST(MovedBytes, AreARanksShareOfEachMatrixThatLiesElsewhere) {
  const Arrangement wanted({3000, 2000, 1000}, Method::summa, {20, 20, 1});
  const Layout rows = Layout::rows({3000, 1000}, 400), columns = Layout::columns({1000, 2000}, 400);
  const auto moved = [&](const Layout& a, const Layout& b, const Layout& c) {
    return moved_bytes({a, b}, c, wanted, element_bytes, 400);
  };
  EXPECT_EQ(moved(rows, wanted.b_layout(), wanted.c_layout()), 3000 * 1000 / 400 * element_bytes);
  EXPECT_EQ(moved(wanted.a_layout(), columns, wanted.c_layout()), 1000 * 2000 / 400 * element_bytes);
  EXPECT_EQ(moved(rows, columns, Layout::rows({3000, 2000}, 400)),
            (3000 * 1000 + 1000 * 2000 + 3000 * 2000) / 400 * element_bytes);
}

TEST(MovedBytes, AreAboutAsManyWhereTheyAreCountedAsWhereTheyAreEstimated) {
  static_assert(dense::most_ranks_to_count == 256);
  const auto moved = [](int edge) {
    const Index n = Index{64} * edge;
    const Layout cyclic = Layout::block_cyclic({n, n}, 16, 16, Owners::grid(edge, edge));
    const Arrangement wanted({n, n, n}, Method::summa, {edge, edge, 1});
    return moved_bytes({cyclic, cyclic}, cyclic, wanted, element_bytes, edge * edge);
  };
  const double counted = static_cast<double>(moved(16)), estimated = static_cast<double>(moved(17));
  EXPECT_GT(counted, 0.7 * estimated);
  EXPECT_LE(counted, estimated);
}

TEST(MultiplicationChoice, LeavesALargeProductOnManyRanksWhereItLies) {
  // An update of a matrix by a few columns and rows, as factorizations do.
  const model::Machine slow = slowly_connected();
  for (const int edge : {17, 32}) {
    const int ranks = edge * edge;
    const auto cyclic = [&](Index rows, Index columns) {
      return Layout::block_cyclic({rows, columns}, 32, 32, Owners::grid(edge, edge));
    };
    const Index n = Index{8} * ranks;
    EXPECT_EQ(choice({cyclic(n, 64), cyclic(64, n)}, cyclic(n, n), ranks, slow).arrangement.describe(),
              fmt::format("SUMMA in place on {0} x {0} ranks", edge));
  }
}

TEST(MultiplicationChoice, AvoidsOnManyRanksToMoveALargeFactor) {
  // A, tall, lies by rows, and B is tiny: a ring's layouts, which leave A and C where they are.
  const model::Machine slow = slowly_connected();
  const int ranks = 300;
  const Layout a = Layout::rows({3000000, 30}, ranks, StorageOrder::column_major);
  const Layout c = Layout::rows({3000000, 30}, ranks, StorageOrder::column_major);
  const Choice chosen = choice({a, Layout::rows({30, 30}, ranks)}, c, ranks, slow);
  EXPECT_EQ(chosen.arrangement.mesh(), (ProcessGrid{ranks, 1, 1})) << chosen.arrangement.describe();
}

TEST(MultiplicationChoice, SpreadsOverLayersOnManyRanksWhereMovingIsCheap) {
  const int ranks = 1000;
  const Layout blocks = Layout::blocks({2000, 2000}, 25, 40);
  const Choice chosen = choice({blocks, blocks}, blocks, ranks, model::default_machine());
  EXPECT_GE(chosen.arrangement.mesh().layers, 2) << chosen.arrangement.describe();
  EXPECT_GE(chosen.arrangement.mesh().ranks(), 750);
}

}  // namespace
}  // namespace plait::test
