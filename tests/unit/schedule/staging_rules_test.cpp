// How many blocks a staging pool needs.
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/contract.hpp"
#include "plait/base/memory.hpp"
#include "plait/schedule/compiled.hpp"
#include "plait/schedule/graph.hpp"

namespace {

using plait::Buffer;
using plait::ContractViolation;
using plait::Index;
using plait::schedule::Compiled;
using plait::schedule::Graph;
using plait::schedule::OperationId;
using plait::schedule::PoolId;
using plait::schedule::Run;
using plait::schedule::SlotId;

constexpr int this_rank = 0;
const auto uses_it = [](const Run&, Index) {};

#if PLAIT_ASSERT_LEVEL >= 1

// Fills a graph with operations that use a pool of that many blocks.
using Filler = void (*)(Graph&, PoolId);

void expect_fewest_blocks(Index fewest, Filler fill) {
  for (Index blocks = 1; blocks <= fewest + 1; ++blocks) {
    Graph graph;
    fill(graph, graph.pool(8, blocks));
    if (blocks < fewest) {
      EXPECT_THROW(Compiled(graph, this_rank), ContractViolation) << blocks << " blocks";
    } else {
      EXPECT_NO_THROW(Compiled(graph, this_rank)) << blocks << " blocks";
    }
  }
}

TEST(StagingPool, of_one_block_serves_a_chain_of_any_length) {
  expect_fewest_blocks(1, [](Graph& graph, PoolId pool) {
    for (Index k = 0; k < 10; ++k) {
      const SlotId slot = graph.staging(pool);
      const OperationId arrived = graph.receive({2 * k, 0, 0}, 1, {slot, 0, 8});
      graph.send({2 * k + 1, 0, 0}, 2, {slot, 0, 8}, {arrived});
    }
  });
}

TEST(StagingPool, needs_as_many_blocks_as_are_held_at_one_time) {
  expect_fewest_blocks(3, [](Graph& graph, PoolId pool) {
    for (Index k = 0; k < 10; ++k) {
      const SlotId slot = graph.staging(pool);
      const OperationId arrived = graph.receive({k, 0, 0}, 1, {slot, 0, 8});
      graph.send({k + 2, 0, 1}, 2, {slot, 0, 8}, {arrived});
    }
  });
}

TEST(StagingPool, needs_a_block_for_each_message_of_a_position_that_is_prepared_there) {
  expect_fewest_blocks(4, [](Graph& graph, PoolId pool) {
    for (int peer = 1; peer <= 4; ++peer) {
      const SlotId slot = graph.staging(pool);
      const OperationId packed = graph.compute({}, 1, uses_it, {slot});
      graph.send({}, peer, {slot, 0, 8}, {packed});
    }
  });
}

TEST(StagingPool, needs_blocks_for_both_ends_of_a_message_of_a_rank_to_itself) {
  expect_fewest_blocks(2, [](Graph& graph, PoolId pool) {
    const SlotId from = graph.staging(pool);
    const SlotId to = graph.staging(pool);
    graph.send({}, this_rank, {from, 0, 8}, {graph.compute({}, 1, uses_it, {from})});
    graph.receive({}, this_rank, {to, 0, 8});
  });
}

TEST(StagingPool, counts_a_block_once_for_an_operation_that_names_it_twice) {
  expect_fewest_blocks(1, [](Graph& graph, PoolId pool) {
    const SlotId slot = graph.staging(pool);
    graph.compute({}, 1, uses_it, {slot, slot});
  });
}

#endif

TEST(StagingMemory, begins_each_pool_on_a_cache_line) {
  Graph graph;
  const PoolId first = graph.pool(7, 3);
  const PoolId second = graph.pool(16, 5);
  for (const PoolId pool : {first, second}) graph.compute({}, 1, uses_it, {graph.staging(pool)});
  const Compiled compiled(graph, this_rank);
  EXPECT_EQ(compiled.pools[0].first_byte, 0);
  EXPECT_EQ(compiled.pools[1].first_byte, 64);
  EXPECT_EQ(compiled.staging_bytes, 64 + 128);
  static_assert(Buffer::alignment == 64);
}

}  // namespace
