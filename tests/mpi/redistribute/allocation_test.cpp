// A program of its own, since operator new is counted, and fails, in all of its code: an execution that was done before
// allocates nothing, where ranks have a tile each, and a plan that one rank has no memory for is made on none.
#include <complex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plait/base/error.hpp"
#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/collectives.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "support/allocated_bytes.hpp"
#include "support/ranks.hpp"

namespace plait::test {
namespace {

using layout::DistributedMatrix;
using layout::Layout;
using redistribute::Op;
using redistribute::Redistribution;
using redistribute::WithinNode;

template <class T>
std::size_t allocated_by_repeated_executions(Redistribution& plan, T alpha, T beta) {
  DistributedMatrix<T> b(plan.from(), rank());
  DistributedMatrix<T> a(plan.to(), rank());
  b.for_each_element([](Index, Index, T& value) { value = T{2}; });
  a.for_each_element([](Index, Index, T& value) { value = T{1}; });
  std::size_t before = 0;
  for (int execution = 0; execution < 5; ++execution) {
    if (execution == 2) before = allocated_bytes();  // the first ones take their memory
    plan.execute<T>(alpha, b.const_tiles(), beta, a.tiles());
  }
  return allocated_bytes() - before;
}

TEST(Allocation, OfARepeatedExecutionIsNone) {
  mpi::Context context(test_comm());
  const auto whole = Layout::rows({64, 40}, ranks());
  const auto blocks = Layout::block_cyclic({40, 64}, 3, 5, layout::Owners::grid(1, ranks()));
  for (const WithinNode within_node : {WithinNode::shared_memory, WithinNode::messages}) {
    Redistribution plan(context, whole, blocks, Op::conjugate_transpose, {.within_node = within_node});
    EXPECT_EQ(allocated_by_repeated_executions<double>(plan, 1, 0), 0U);
    EXPECT_EQ(allocated_by_repeated_executions<float>(plan, 2, 1), 0U);
    EXPECT_EQ(allocated_by_repeated_executions<std::complex<double>>(plan, {1, 2}, {3, 4}), 0U);
    EXPECT_EQ(allocated_by_repeated_executions<std::complex<double>>(plan, 0, 2), 0U);
  }
}

TEST(Allocation, ThatFailsOnOneRankIsToldToAllThatPlan) {
  mpi::Context context(test_comm());
  const auto whole = Layout::rows({64, 40}, ranks());
  const auto blocks = Layout::block_cyclic({40, 64}, 3, 5, layout::Owners::grid(1, ranks()));
  bool is_made = false;
  for (std::size_t others = 0; !is_made && others < 1000; ++others) {
    if (rank() == ranks() - 1) fail_allocation_after(others);
    try {
      const Redistribution plan(context, whole, blocks, Op::transpose);
      is_made = true;
    } catch (const OutOfMemory&) {
    }
    if (rank() == ranks() - 1) {
      EXPECT_EQ(has_failed_allocation(), !is_made) << others;
    }
    EXPECT_EQ(mpi::all_reduce(context.comm(), is_made ? 1 : 0, mpi::Operation::sum()), is_made ? ranks() : 0) << others;
  }
  EXPECT_TRUE(is_made);
}

}  // namespace
}  // namespace plait::test
