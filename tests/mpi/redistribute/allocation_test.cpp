// A program of its own, since operator new is counted, and fails, in all of its code: an execution that was done before
// allocates nothing, where ranks have a tile each, and a plan that one rank has no memory for is made on none.
#include <complex>
#include <new>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plait/layout/distributed_matrix.hpp"
#include "plait/layout/text.hpp"
#include "plait/mpi/context.hpp"
#include "plait/redistribute/batch.hpp"
#include "plait/redistribute/redistribution.hpp"

#include "support/allocation_failures.hpp"
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

TEST(Allocation, ThatFailsOnOneRankIsToldToAllThatPlanAndExecute) {
  mpi::Context context(test_comm());
  const auto whole = Layout::rows({64, 40}, ranks());
  const auto blocks = Layout::block_cyclic({40, 64}, 3, 5, layout::Owners::grid(1, ranks()));
  DistributedMatrix<double> b(whole, rank());
  DistributedMatrix<double> a(blocks, rank());
  b.for_each_element([](Index i, Index j, double& value) { value = static_cast<double>(100 * i + j); });
  for (const WithinNode within_node : {WithinNode::shared_memory, WithinNode::messages}) {
    expect_one_end_on_all_ranks([&] {
      Redistribution plan(context, whole, blocks, Op::transpose, {.within_node = within_node});
      plan.execute(1.0, b.const_tiles(), 0.0, a.tiles());
    });
    a.for_each_element([](Index i, Index j, double& value) { EXPECT_EQ(value, static_cast<double>(100 * j + i)); });
  }
}

TEST(Allocation, ThatFailsOnOneRankIsToldToAllOfABatch) {
  mpi::Context context(test_comm());
  const auto whole = Layout::rows({24, 10}, ranks());
  const auto blocks = Layout::columns({24, 10}, ranks());
  DistributedMatrix<double> b(whole, rank());
  DistributedMatrix<double> a(blocks, rank()), other(blocks, rank());
  b.for_each_element([](Index i, Index j, double& value) { value = static_cast<double>(100 * i + j); });
  expect_one_end_on_all_ranks([&] {
    std::vector<redistribute::MatrixPair> pairs;  // a rank that has no memory for them plans something else
    try {
      pairs = {{whole, blocks}, {whole, blocks, Op::conjugate}};
    } catch (const std::bad_alloc&) {
    }
    redistribute::Batch plan(context, std::move(pairs));
    std::vector<redistribute::Operands> operands;
    try {
      operands = {{1.0, b, 0.0, a}, {2.0, b, 0.0, other}};
    } catch (const std::bad_alloc&) {
      operands.clear();
    }
    plan.execute(operands);
  });
}

}  // namespace
}  // namespace plait::test
