// The ways between ranks of a node: messages, slots in shared memory, and reading or writing shared tiles in place.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/layout/distributed_matrix.hpp"
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
using layout::Shape;
using redistribute::Op;
using redistribute::Options;
using redistribute::Redistribution;
using redistribute::WithinNode;
using ::testing::HasSubstr;

enum class Way { messages, slots, from_shared_sources, to_shared_targets, between_shared };

struct SharedOrNot {
  SharedOrNot(mpi::Context& context, const Layout& layout, bool shared)
      : memory(shared ? context.allocate_shared(DistributedMatrix<double>::bytes_of(layout, rank()))
                      : mpi::SharedMemory()),
        matrix(shared ? DistributedMatrix<double>(layout, rank(), memory.bytes())
                      : DistributedMatrix<double>(layout, rank())) {}

  mpi::SharedMemory memory;
  DistributedMatrix<double> matrix;
};

// Several hundred chunks of a few KB: many times around the rings.
struct WithinANode : ::testing::TestWithParam<Way> {
  mpi::Context context{test_comm()};
  const Shape shape{611, 397};
  const Layout from = Layout::block_cyclic(shape, 7, 9, Owners::grid(ranks(), 1));
  const Layout to = Layout::block_cyclic({shape.columns, shape.rows}, 16, 5, Owners::grid(1, ranks()));
  SharedOrNot source{context, from, GetParam() == Way::from_shared_sources || GetParam() == Way::between_shared};
  SharedOrNot target{context, to, GetParam() == Way::to_shared_targets || GetParam() == Way::between_shared};
  DistributedMatrix<double>& b = source.matrix;
  DistributedMatrix<double>& a = target.matrix;

  [[nodiscard]] Options options() const {
    return {.chunk_bytes = 4096,
            .within_node = GetParam() == Way::messages ? WithinNode::messages : WithinNode::shared_memory};
  }
  void fill(std::uint64_t seed) {
    b.for_each_element([=](Index i, Index j, double& value) { value = element<double>(seed, i, j); });
    a.for_each_element([](Index, Index, double& value) { value = -1; });
  }
  Index wrong_elements(std::uint64_t seed) {
    Index wrong = 0;
    a.for_each_element([&](Index i, Index j, double& value) { wrong += value == element<double>(seed, j, i) ? 0 : 1; });
    return wrong;
  }
};

TEST_P(WithinANode, TransposesAgainAndAgainWithTheSamePlan) {
  Redistribution plan(context, from, to, Op::transpose, options());
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    fill(seed);
    plan.execute(b, a);
    ASSERT_EQ(wrong_elements(seed), 0) << "execution " << seed;
  }
}

TEST_P(WithinANode, CountsTheBytesThatThePlanTells) {
  Redistribution plan(context, from, to, Op::transpose, options());
  plan.execute(b, a);
  const auto& counted = context.counters().at("redistribute");
  const auto bytes = [](Index elements) { return elements * Index{sizeof(double)}; };
  EXPECT_EQ(counted.sent_to(PeerClass::node).bytes, bytes(plan.volume().sent));
  EXPECT_EQ(counted.received_from(PeerClass::node).bytes, bytes(plan.volume().received));
  EXPECT_EQ(counted.sent_to(PeerClass::self).bytes, bytes(plan.volume().kept));
  EXPECT_GT(counted.sent_to(PeerClass::node).messages, ranks() > 1 ? 2 * 16 : -1);
}

TEST_P(WithinANode, HasSeveralExecutionsUnderWayAtOnce) {
  DistributedMatrix<double> other(to, rank());
  Redistribution first(context, from, to, Op::transpose, options());
  Redistribution second(context, from, to, Op::transpose, options());
  fill(8);
  const auto source = b.const_tiles();
  first.start<double>(1.0, source, 0.0, a.tiles());
  second.start<double>(2.0, source, 0.0, other.tiles());
  rank() % 2 == 0 ? first.wait() : second.wait();
  rank() % 2 == 0 ? second.wait() : first.wait();
  EXPECT_EQ(wrong_elements(8), 0);
  Index wrong = 0;
  other.for_each_element(
      [&](Index i, Index j, double& value) { wrong += value == 2 * element<double>(8, j, i) ? 0 : 1; });
  EXPECT_EQ(wrong, 0);
}

TEST_P(WithinANode, TellsAllRanksWhatAnOperationThrewOnOne) {
  Redistribution plan(context, from, to, Op::transpose, options());
  const redistribute::ElementOperation<double> failing = [](matrix_view<const double>, matrix_view<double>, Index,
                                                            Index) {
    if (rank() == ranks() - 1) throw std::runtime_error("no such element");
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_THAT(message_of<Error>([&] { plan.execute<double>(failing, b.const_tiles(), a.tiles()); }),
                HasSubstr("no such element"));
    fill(3);
    plan.execute(b, a);
    EXPECT_EQ(wrong_elements(3), 0);
  }
}

std::string name_of(const ::testing::TestParamInfo<Way>& way) {
  switch (way.param) {
    case Way::messages: return "Messages";
    case Way::slots: return "Slots";
    case Way::from_shared_sources: return "FromSharedSources";
    case Way::to_shared_targets: return "ToSharedTargets";
    case Way::between_shared: return "BetweenShared";
  }
  return "";
}
INSTANTIATE_TEST_SUITE_P(All, WithinANode,
                         ::testing::Values(Way::messages, Way::slots, Way::from_shared_sources, Way::to_shared_targets,
                                           Way::between_shared),
                         name_of);

const Shape whole{300, 200};
constexpr Index chunk_bytes = 4096;
constexpr Index chunks = 300 * 200 * Index{sizeof(double)} / chunk_bytes;  // at the least

// All of it on one rank.
Layout on_rank(int owner) {
  return Layout::block_cyclic(whole, 300, 200, Owners::grid(1, 1, layout::GridOrder::row, owner));
}

// In how many computations this rank took part, which tells who moved chunks: through a slot or in a message both ranks
// do, in place only one of them, for which the other does one computation, its offer.
Index computations(const Layout& from, const Layout& to, bool source_is_shared, bool target_is_shared) {
  mpi::Context context(test_comm());
  SharedOrNot source(context, from, source_is_shared), target(context, to, target_is_shared);
  source.matrix.for_each_element([](Index i, Index j, double& value) { value = element<double>(1, i, j); });
  Redistribution plan(context, from, to, Op::identity, {.chunk_bytes = chunk_bytes});
  context.timeline().start();
  plan.execute(source.matrix, target.matrix);
  context.timeline().stop();
  EXPECT_EQ(wrong_elements(target.matrix, 1), 0);
  return std::ranges::count(context.timeline().take().operations, OperationKind::compute, &TimedOperation::kind);
}

struct TilesInSharedMemory : ::testing::Test {
  const bool has_all = rank() == 0;
  const bool wants_all = rank() == ranks() - 1;

  static void expect_moved(bool by_this_rank, Index found) {
    if (by_this_rank) {
      EXPECT_GE(found, chunks);
    } else {
      EXPECT_LE(found, 1);
    }
  }
};

TEST_F(TilesInSharedMemory, AreNeededForMovingInPlace) {
  const Index found = computations(on_rank(0), on_rank(ranks() - 1), false, false);
  expect_moved(has_all || wants_all, found);
}

TEST_F(TilesInSharedMemory, AreWrittenByThoseWhoHaveTheData) {
  const Index found = computations(on_rank(0), on_rank(ranks() - 1), false, true);
  expect_moved(has_all, found);
}

TEST_F(TilesInSharedMemory, AreReadByThoseWhoWantTheData) {
  for (const bool target_is_shared : {false, true}) {
    const Index found = computations(on_rank(0), on_rank(ranks() - 1), true, target_is_shared);
    expect_moved(wants_all, found);
  }
}

TEST_F(TilesInSharedMemory, AreWrittenWhereWhatEachRankWantsLiesInShortRuns) {
  const Layout to = Layout::block_cyclic(whole, 7, 200, Owners::grid(ranks(), 1));
  const Index found = computations(on_rank(0), to, true, true);
  expect_moved(has_all, found);
}

TEST(PlansOfOneContext, MayEndInAnotherOrderOnEachRank) {
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({100, 90}, ranks());
  const Layout columns = Layout::columns({100, 90}, ranks());
  DistributedMatrix<double> b(rows, rank()), a(columns, rank());
  std::vector<std::unique_ptr<Redistribution>> plans;
  Random random(static_cast<std::uint64_t>(rank()));
  for (std::uint64_t round = 0; round < 40; ++round) {
    plans.push_back(std::make_unique<Redistribution>(context, rows, columns));
    b.for_each_element([&](Index i, Index j, double& value) { value = element<double>(round, i, j); });
    plans.back()->execute(b, a);
    ASSERT_EQ(wrong_elements(a, round), 0) << "round " << round;
    while (uniform(random, 0, 5) < static_cast<Index>(plans.size()) - 3) {
      plans.erase(plans.begin() + uniform(random, 0, static_cast<Index>(plans.size()) - 1));
    }
  }
}

TEST(TilesOfOnePlan, MayBeSharedOrNotFromExecutionToExecution) {
  mpi::Context context(test_comm());
  const Layout rows = Layout::rows({300, 200}, ranks());
  const Layout columns = Layout::columns({300, 200}, ranks());
  SharedOrNot shared_rows(context, rows, true), shared_columns(context, columns, true);
  SharedOrNot own_rows(context, rows, false), own_columns(context, columns, false);
  Redistribution plan(context, rows, columns);
  // Where one rank's are its own, nobody's are read or written in place.
  const auto are_shared = [](std::uint64_t way) { return way == 0 || (way == 1 && rank() > 0); };
  for (std::uint64_t round = 0; round < 18; ++round) {
    DistributedMatrix<double>& b = (are_shared(round % 3) ? shared_rows : own_rows).matrix;
    DistributedMatrix<double>& a = (are_shared(round / 3 % 3) ? shared_columns : own_columns).matrix;
    b.for_each_element([&](Index i, Index j, double& value) { value = element<double>(round, i, j); });
    plan.execute(b, a);
    EXPECT_EQ(wrong_elements(a, round), 0) << "round " << round;
  }
}

}  // namespace
}  // namespace plait::test
